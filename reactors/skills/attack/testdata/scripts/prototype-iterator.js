// expect: exception invalid_output
// output: {"real":true}
export default async (input, helix) => {
  Array.prototype[Symbol.iterator] = function* () { yield 'mine'; };
  Function.prototype.call = Function.prototype.apply = () => 'mine';
  String.prototype.toString = () => 'mine';
  try { await helix.kv.get('a'); } catch { /* of no matter */ }
  return { real: true };
}
