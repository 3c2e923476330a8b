// expect: cpu_time_exceeded memory_exceeded exception
export default () => Array.from({ length: 1e9 }).length
