// expect: cpu_time_exceeded
export default () => Array.prototype.reverse.call({ length: Number.MAX_SAFE_INTEGER })
