// expect: cpu_time_exceeded
export default async () => { for (;;) await null; }
