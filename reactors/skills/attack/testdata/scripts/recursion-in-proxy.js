// expect: stack_overflow exception
export default () => { const p = new Proxy({}, {}); Object.setPrototypeOf(p, Object.create(p, {})); return p.missing; }
