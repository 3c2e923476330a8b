// expect: stack_overflow exception
export default () => { const o = { get a() { return this.a; } }; return o.a; }
