package skills

// NextTime is for tests.
var NextTime = nextTime
