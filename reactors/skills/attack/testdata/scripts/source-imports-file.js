// expect: syntax_error exception unsupported_import
import passwd from '/etc/passwd';
export default () => passwd
