// expect: invalid_output
// output: "a\u0000b"
export default () => 'a\u0000b'
