// expect: stack_overflow exception
export default () => { const f = () => f() + 1; return f(); }
