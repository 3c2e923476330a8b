// expect: cpu_time_exceeded
export default () => ({ get a() { for (;;); } })
