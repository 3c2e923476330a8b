// expect: cpu_time_exceeded
export default () => Array.prototype.indexOf.call({ length: Number.MAX_SAFE_INTEGER }, 1)
