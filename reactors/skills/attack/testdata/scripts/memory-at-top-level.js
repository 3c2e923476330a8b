// expect: memory_exceeded exception compile_limit cpu_time_exceeded
const kept = [];
for (let n = 0; ; n++) kept.push((n + 'x').repeat(50_000));
export default () => 1
