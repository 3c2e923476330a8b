// expect: exception wall_time_exceeded invalid_output
// output: "hijacked"
export default () => { Object.prototype.then = (done) => done('hijacked'); return { real: true }; }
