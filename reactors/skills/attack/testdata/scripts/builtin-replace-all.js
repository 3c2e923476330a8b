// expect: cpu_time_exceeded memory_exceeded exception
export default () => {
  const text = 'a'.repeat(1 << 20);
  for (let n = 0; ; n++) text.replaceAll('a', 'bb');
}
