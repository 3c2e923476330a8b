// expect: exception
// output: 1
export default () => {
  const no = () => { throw new Error('no'); };
  console.log(new Proxy({}, { get: no, ownKeys: no }), { toJSON: no }, { get a() { return no(); } });
  return 1;
}
