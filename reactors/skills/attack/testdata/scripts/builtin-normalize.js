// expect: cpu_time_exceeded
export default () => { const text = '\u1e9b\u0323\u0301'.repeat(1e5); for (;;) text.normalize('NFKD'); }
