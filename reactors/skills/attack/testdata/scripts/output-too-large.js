// expect: output_too_large
export default () => 'a'.repeat(2 << 20)
