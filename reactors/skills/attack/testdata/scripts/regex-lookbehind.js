// expect: cpu_time_exceeded
export default () => /(?<=(?:a|aa|aaa)+b)c/.test('a'.repeat(200) + 'c')+ /^(?:(?:a*)*)*$/.test('a'.repeat(60) + 'b')
