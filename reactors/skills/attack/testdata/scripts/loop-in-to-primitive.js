// expect: cpu_time_exceeded
export default () => `${{ [Symbol.toPrimitive]() { for (;;); } }}`
