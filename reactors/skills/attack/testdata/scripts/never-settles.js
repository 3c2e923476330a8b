// expect: exception wall_time_exceeded invalid_output
export default () => new Promise(() => {})
