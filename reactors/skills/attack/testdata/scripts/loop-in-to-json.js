// expect: cpu_time_exceeded
export default () => ({ toJSON() { for (;;); } })
