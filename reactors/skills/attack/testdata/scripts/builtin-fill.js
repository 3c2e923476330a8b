// expect: cpu_time_exceeded memory_exceeded exception
export default () => Array(1e9).fill(0).length
