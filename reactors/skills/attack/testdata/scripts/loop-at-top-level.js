// expect: compile_limit cpu_time_exceeded
// long
for (;;);
export default () => 1
