// expect: memory_exceeded exception
export default () => 'a'.repeat(2 ** 30 - 1).length
