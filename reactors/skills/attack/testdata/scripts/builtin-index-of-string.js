// expect: cpu_time_exceeded
export default () => { const a = 'a'.repeat(1 << 21); return a.indexOf('a'.repeat(1 << 20) + 'b'); }
