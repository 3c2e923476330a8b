// expect: exception invalid_output
export default () => 1n
