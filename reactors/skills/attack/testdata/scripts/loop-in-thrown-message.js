// expect: cpu_time_exceeded exception
export default () => { throw { get message() { for (;;); }, get stack() { for (;;); }, toString() { for (;;); } }; }
