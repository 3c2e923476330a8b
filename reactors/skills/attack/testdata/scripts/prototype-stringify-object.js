// expect: invalid_output exception
// output: {"real":true}
export default () => { JSON.stringify = () => ({ not: 'a string' }); return { real: true }; }
