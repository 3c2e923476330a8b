// expect: memory_exceeded exception
// output: 1
export default () => { console.log('x'.repeat(30 << 20)); return 1; }
