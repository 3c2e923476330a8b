// expect: host_call_limit cpu_time_exceeded wall_time_exceeded
export default async (input, helix) => { for (;;) { try { await helix.kv.get('a'); } catch { /* again */ } } }
