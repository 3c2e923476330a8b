// expect: exception invalid_output wall_time_exceeded
// output: 1
export default () => {
  for (const name of Object.getOwnPropertyNames(globalThis)) { try { delete globalThis[name]; } catch { /* next */ } }
  return 1;
}
