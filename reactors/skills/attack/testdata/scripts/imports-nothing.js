// output: []
export default async () => {
  const names = ['std', 'os', 'qjs:std', 'qjs:os', 'bjson', 'fs', 'node:fs', 'child_process', '/etc/passwd', '../index.js', './index.js',
    'file:///etc/passwd', 'data:text/javascript,export default 1', 'https://127.0.0.1/x.js', ''];
  const found = [];
  for (const name of names) {
    try { await import(name); found.push(name); } catch { /* refused */ }
  }
  return found;
}
