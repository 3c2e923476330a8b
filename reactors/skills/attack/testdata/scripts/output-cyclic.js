// expect: exception invalid_output
export default () => { const o = {}; o.o = o; return o; }
