// expect: cpu_time_exceeded wall_time_exceeded memory_exceeded
export default () => { for (;;) { console.error('x'.repeat(100_000)); console.warn('y'); } }
