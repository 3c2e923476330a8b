// expect: memory_exceeded exception
export default () => { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)); }
