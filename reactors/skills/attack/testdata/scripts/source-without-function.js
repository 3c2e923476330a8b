// expect: missing_export syntax_error exception
const answer = 42;
