// expect: invalid_output exception
export default () => ({ toJSON() { throw new Error('not today'); } })
