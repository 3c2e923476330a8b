// expect: memory_exceeded cpu_time_exceeded
export default () => { const kept = []; for (let n = 0; ; n++) kept.push((n + 'x').repeat(50_000)); }
