// expect: wall_time_exceeded exception
export default () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
