// expect: host_call_limit
export default (input, helix) => Promise.all(Array.from({ length: 51 }, (_, n) => helix.kv.get('k' + n)))
