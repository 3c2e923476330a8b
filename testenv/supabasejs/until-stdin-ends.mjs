// Ends the process when its parent is gone, however that ended: the pipe closes.
process.stdin.on('close', () => process.exit()).resume()
