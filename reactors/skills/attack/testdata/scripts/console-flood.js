// expect: cpu_time_exceeded wall_time_exceeded memory_exceeded
export default () => { for (;;) console.log('flood'); }
