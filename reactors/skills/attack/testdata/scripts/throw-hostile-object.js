// expect: exception
export default () => {
  const no = () => { throw new Error('no'); };
  throw new Proxy({}, { get: no, has: no, ownKeys: no, getPrototypeOf: no });
}
