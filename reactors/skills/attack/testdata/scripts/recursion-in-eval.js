// expect: stack_overflow exception syntax_error
export default () => eval('('.repeat(1e6))
