// expect: host_call_limit
// output: 1
export default (input, helix) => { for (let n = 0; n < 1000; n++) helix.kv.get('k' + n); return 1; }
