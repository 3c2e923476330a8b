// expect: memory_exceeded cpu_time_exceeded
export default () => { const all = []; for (;;) { try { all.push(new Uint8Array(1 << 20).fill(1)); } catch { /* again */ } } }
