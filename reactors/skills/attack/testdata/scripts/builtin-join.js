// expect: cpu_time_exceeded memory_exceeded exception
export default () => Array(2 ** 32 - 1).join('')
