// expect: exception
// output: 1
export default () => { Promise.resolve().then(() => { throw new Error('late'); }); return 1; }
