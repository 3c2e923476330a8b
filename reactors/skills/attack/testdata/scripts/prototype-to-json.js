// expect: exception stack_overflow invalid_output
// output: "mine"
export default () => { Object.prototype.toJSON = () => 'mine'; return { real: true }; }
