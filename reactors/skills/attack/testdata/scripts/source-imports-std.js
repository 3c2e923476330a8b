// expect: syntax_error exception unsupported_import
import * as std from 'std';
export default () => std.getenv('PATH')
