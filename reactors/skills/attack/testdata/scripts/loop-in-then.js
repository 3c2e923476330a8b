// expect: cpu_time_exceeded
export default () => ({ then() { for (;;); } })
