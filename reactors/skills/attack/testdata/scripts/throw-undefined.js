// expect: exception
export default async () => { throw undefined; }
