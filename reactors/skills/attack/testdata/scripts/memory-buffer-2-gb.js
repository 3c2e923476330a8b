// expect: memory_exceeded exception
export default () => new Uint8Array(2 ** 31 - 1).length
