// expect: exception memory_exceeded cpu_time_exceeded
// output: "refused"
export default async (input, helix) => {
  try { await helix.kv.set('a', 'x'.repeat(20 << 20)); return 'reached'; } catch { return 'refused'; }
}
