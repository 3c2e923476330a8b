// expect: invalid_output exception stack_overflow
export default () => { let deep = []; for (let n = 0; n < 5000; n++) deep = [deep]; return deep; }
