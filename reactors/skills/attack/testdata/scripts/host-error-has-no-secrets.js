// output: ["internal",false]
export default async (input, helix) => {
  try { await helix.call('boom', {}); return 'reached'; } catch (e) { return [e.code, /postgres|password|goroutine|\.go:/.test(e.message + e.stack)]; }
}
