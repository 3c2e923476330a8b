// expect: invalid_output exception
// output: null
export default () => () => 1
