// expect: cpu_time_exceeded
export default () => { console.log({ toString() { for (;;); }, toJSON() { for (;;); }, get a() { for (;;); } }); for (;;); }
