// expect: host_call_limit
export default async (input, helix) => { for (;;) await helix.kv.get('a'); }
