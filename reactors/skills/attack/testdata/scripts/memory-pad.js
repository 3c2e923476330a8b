// expect: memory_exceeded exception
export default () => 'a'.padEnd(2 ** 30 - 1, 'bc').length
