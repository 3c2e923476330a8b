// expect: memory_exceeded exception
export default () => { let text = 'ab'; for (;;) text += text; }
