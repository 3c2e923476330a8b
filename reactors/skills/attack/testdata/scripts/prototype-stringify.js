// expect: invalid_output exception
// output: {"real":true}
export default () => { JSON.stringify = () => '{"broken'; JSON.parse = () => { throw new Error('no'); }; return { real: true }; }
