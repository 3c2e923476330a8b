// output: false
export default () => /\/(root|home|tmp|proc)\//.test(String(import.meta.url))
