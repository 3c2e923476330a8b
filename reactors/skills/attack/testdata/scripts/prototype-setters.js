// expect: exception invalid_output wall_time_exceeded
// output: 1
export default async (input, helix) => {
  for (const name of ['ok', 'error', 'code', 'message', 'id', 'value', 'resolve', 'reject', 'output', 'result']) {
    Object.defineProperty(Object.prototype, name, { set() { throw new Error('set ' + name); }, get() { return 'polluted'; }, configurable: true });
  }
  try { await helix.kv.get('a'); } catch { /* of no matter */ }
  return 1;
}
