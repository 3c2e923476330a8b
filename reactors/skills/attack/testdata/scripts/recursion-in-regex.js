// expect: exception stack_overflow
export default () => new RegExp('('.repeat(1e6)).test('a')
