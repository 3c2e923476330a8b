// expect: cpu_time_exceeded exception
export default () => { let n = 7n; for (let i = 0; i < 19; i++) n *= n; return n.toString().length; }
