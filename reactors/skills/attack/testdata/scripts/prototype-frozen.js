// expect: exception
// output: 1
export default async (input, helix) => {
  for (const name of Object.getOwnPropertyNames(globalThis)) { try { Object.freeze(globalThis[name]); Object.freeze(globalThis[name].prototype); } catch { /* next */ } }
  Object.freeze(globalThis);
  try { await helix.kv.get('a'); } catch { /* of no matter */ }
  return 1;
}
