// expect: cpu_time_exceeded
export default () => [3, 1, 2].sort(() => { for (;;); })
