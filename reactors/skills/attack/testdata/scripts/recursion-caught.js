// expect: cpu_time_exceeded stack_overflow exception
export default () => {
  // Each frame tries again as the stack unwinds: 2^depth.
  const f = () => { try { f(); } finally { f(); } };
  f();
}
