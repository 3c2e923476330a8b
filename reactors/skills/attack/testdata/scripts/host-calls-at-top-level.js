// expect: exception host_call_limit compile_limit syntax_error unsupported_import
// output: null
const early = await globalThis.helix?.kv.get('a');
export default () => early ?? null
