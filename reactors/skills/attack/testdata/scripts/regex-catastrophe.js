// expect: cpu_time_exceeded
export default () => /^(a+)+$/.test('a'.repeat(40) + '!')
