// expect: cpu_time_exceeded
export default async () => {
  async function* ones() { for (;;) yield 1; }
  for await (const one of ones()) void one;
}
