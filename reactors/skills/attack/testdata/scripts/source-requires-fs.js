// expect: exception
const fs = require('fs');
module.exports = () => fs.readFileSync('/etc/passwd', 'utf8');
