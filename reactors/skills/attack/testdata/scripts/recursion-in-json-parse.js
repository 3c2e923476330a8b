// expect: stack_overflow exception syntax_error
export default () => JSON.parse('['.repeat(1e6))
