package metric

import "runtime"

var (
	state = gauges("state", "What this process does: 1 for one of starting, leading, standby and working.", "state")
	build = gauges("build_info", "1, for the version of this build.", "version", "go_version")
)

// Is tells what this process does, of the states that there are.
func Is(now string, states ...string) {
	for _, s := range states {
		state.WithLabelValues(s).Set(number(s == now))
	}
}

// Build tells the version of this build.
func Build(version string) { build.WithLabelValues(version, runtime.Version()).Set(1) }
