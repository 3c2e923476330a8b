// expect: exception
export default () => { throw new Error('x\u0000\ud800\n'.repeat(1e6)); }
