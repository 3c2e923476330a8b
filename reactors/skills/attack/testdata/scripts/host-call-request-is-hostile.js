// expect: exception
// output: "refused"
export default async (input, helix) => {
  const cyclic = {}; cyclic.cyclic = cyclic;
  for (const request of [cyclic, 1n, { toJSON() { throw new Error('no'); } }]) {
    try { await helix.call('kv.get', request); return 'reached'; } catch { /* refused */ }
  }
  return 'refused';
}
