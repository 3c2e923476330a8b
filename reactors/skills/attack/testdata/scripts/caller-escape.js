// output: []
export default () => {
  const found = [];
  const look = function () {
    try { if (look.caller) found.push('caller'); } catch { /* strict */ }
    try { if (arguments.callee.caller) found.push('callee'); } catch { /* strict */ }
  };
  look();
  for (const frame of String(new Error().stack).split('\n')) if (frame.includes('/')) found.push(frame);
  return found.filter((f) => /helixd|\/root|\/home|\/tmp|\/proc/.test(f));
}
