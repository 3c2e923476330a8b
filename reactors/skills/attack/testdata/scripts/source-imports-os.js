// expect: syntax_error exception unsupported_import
import * as os from 'qjs:os';
export default () => os.exec(['id'])
