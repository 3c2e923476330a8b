// expect: cpu_time_exceeded memory_exceeded
export default () => {
  const again = () => Promise.resolve().then(again);
  return again();
}
