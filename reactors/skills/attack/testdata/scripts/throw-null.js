// expect: exception
export default () => { throw null; }
