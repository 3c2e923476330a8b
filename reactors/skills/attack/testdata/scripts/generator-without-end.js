// expect: cpu_time_exceeded memory_exceeded exception
export default () => {
  function* ones() { for (;;) yield 1; }
  return [...ones()].length;
}
