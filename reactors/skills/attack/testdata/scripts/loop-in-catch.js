// expect: cpu_time_exceeded
export default () => {
  // An interrupt must not be an exception that a script can catch.
  for (;;) { try { for (;;); } catch { /* again */ } finally { continue } }
}
