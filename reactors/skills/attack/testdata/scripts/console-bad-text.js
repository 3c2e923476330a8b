// output: 1
export default () => { console.log('\u0000\ud800\u001b[2J%s%n', { toString: null }, Symbol('s'), 1n, undefined); return 1; }
