// output: []
export default () => {
  const names = ['process', 'require', 'std', 'os', 'scriptArgs', 'bjson', 'Deno', 'Bun', 'WebAssembly', 'Worker', 'XMLHttpRequest', 'WebSocket',
    'indexedDB', 'localStorage', 'gc', 'loadFile', 'loadScript', '__loadScript', 'evalScript', 'print_env', 'getenv'];
  return names.filter((name) => typeof globalThis[name] !== 'undefined');
}
