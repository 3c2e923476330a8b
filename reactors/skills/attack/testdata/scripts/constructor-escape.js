// output: []
export default (input, helix) => {
  // The ways out of an embedder's objects: they lead to this realm's Function, which has nothing more.
  const roads = [helix, input, console, console.log, helix.call, helix.kv, fetch, async () => {}, function* () {}];
  const found = [];
  for (const road of roads) {
    try {
      const make = road.constructor.constructor;
      for (const name of ['process', 'require', 'std', 'os', 'scriptArgs']) {
        if (make('return typeof ' + name)() !== 'undefined') found.push(name);
      }
    } catch { /* no constructor */ }
  }
  return found;
}
