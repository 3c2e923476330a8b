// expect: invalid_output
// output: "\ud800"
export default () => '\ud800'
