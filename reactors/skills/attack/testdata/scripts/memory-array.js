// expect: memory_exceeded exception cpu_time_exceeded
export default () => { const all = []; for (;;) all.push({}); }
