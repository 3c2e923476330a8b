// output: true
export default async (input, helix) => {
  const names = ['', '__proto__', 'constructor', '\u0000', '\ud800', 'kv.get\n', '../kv.get', 'x'.repeat(100_000), null, {}, [], { toString: () => 'os.system' }];
  let refused = 0;
  for (const name of names) {
    try { await helix.call(name, {}); } catch { refused++; }
  }
  return refused === names.length;
}
