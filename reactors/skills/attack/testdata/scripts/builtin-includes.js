// expect: cpu_time_exceeded
export default () => Array.prototype.includes.call(new Proxy({}, { get: (_, k) => (k === "length" ? 2 ** 53 - 1 : 0) }), 1)
