// expect: cpu_time_exceeded memory_exceeded exception
export default () => Number(3n ** 100000000n & 1n)
