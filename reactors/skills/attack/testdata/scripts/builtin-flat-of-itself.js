// expect: cpu_time_exceeded memory_exceeded exception stack_overflow
export default () => { const a = []; a.push(a, a); return a.flat(Infinity).length; }
