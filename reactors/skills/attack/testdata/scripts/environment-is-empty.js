// output: false
export default () => {
  const seen = Object.getOwnPropertyNames(globalThis).map((name) => { try { return String(globalThis[name]); } catch { return ''; } }).join();
  return /postgres|HELIX|\/proc\/|\/root\//.test(seen);
}
