// expect: cpu_time_exceeded
export default () => { const a = new Float64Array(8e6).map((_, i) => -i); for (;;) a.sort().reverse(); }
