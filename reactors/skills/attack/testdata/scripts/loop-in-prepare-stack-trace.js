// expect: cpu_time_exceeded exception
export default () => {
  Error.prepareStackTrace = () => { for (;;); };
  throw new Error('traced');
}
