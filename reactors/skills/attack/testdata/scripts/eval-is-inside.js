// output: [2,"undefined","undefined"]
export default () => [eval('1 + 1'), new Function('return typeof process')(), (0, eval)('typeof std')]
