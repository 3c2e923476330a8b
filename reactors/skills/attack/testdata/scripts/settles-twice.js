// output: 1
export default () => ({ then(done, failed) { done(1); failed(new Error('2')); done(3); } })
