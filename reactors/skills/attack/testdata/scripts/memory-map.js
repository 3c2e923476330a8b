// expect: memory_exceeded exception cpu_time_exceeded
export default () => { const map = new Map(); for (let n = 0; ; n++) map.set(n, [n, n, n, n, n, n, n, n]); }
