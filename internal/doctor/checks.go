package doctor

import "slices"

// Checks are all checks, in the order in which they are run.
func Checks() []Check {
	return slices.Concat(connectionChecks, serverChecks, slotChecks, schemaChecks, rightChecks, projectChecks, realtimeChecks, workChecks, machineChecks)
}
