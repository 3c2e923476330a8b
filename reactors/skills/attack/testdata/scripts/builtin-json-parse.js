// expect: cpu_time_exceeded memory_exceeded
export default () => { const text = '[' + '1,'.repeat(2e5) + '1]'; for (;;) JSON.parse(text); }
