// output: {"made":"\"}, \"injected\": {\""}
export default () => { const made = { toJSON: () => '"}, "injected": {"' }; return { made }; }
