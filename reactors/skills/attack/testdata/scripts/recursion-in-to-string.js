// expect: stack_overflow exception
export default () => { const a = []; let b = a; for (let n = 0; n < 1e5; n++) b = [b]; return String(b); }
