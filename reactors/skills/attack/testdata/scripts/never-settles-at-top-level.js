// expect: exception wall_time_exceeded syntax_error compile_limit invalid_output missing_export
await new Promise(() => {});
export default () => 1
