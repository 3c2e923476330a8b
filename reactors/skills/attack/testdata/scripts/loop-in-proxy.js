// expect: cpu_time_exceeded
export default () => {
  const loop = () => { for (;;); };
  return new Proxy({}, { ownKeys: loop, get: loop, getOwnPropertyDescriptor: loop, has: loop });
}
