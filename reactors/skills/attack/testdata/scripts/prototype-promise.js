// expect: exception wall_time_exceeded invalid_output
// output: {"real":true}
export default async () => {
  Promise.prototype.then = function () { return this; };
  Promise.resolve = () => 7;
  return { real: true };
}
