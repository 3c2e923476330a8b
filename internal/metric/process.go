package metric

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
)

var build = gauges("build_info", "1, for the version of this build.", "version", "go_version")

// Build tells the version of this build.
func Build(version string) { build.WithLabelValues(version, runtime.Version()).Set(1) }

// State gives a metric of what a process does, of the states that there are. It asks
// whenever somebody looks.
func State(now func() string, states ...string) prometheus.Collector { return state{now, states} }

type state struct {
	now    func() string
	states []string
}

var stateDesc = prometheus.NewDesc(namespace+"_state", "What this process does: 1 for one of starting (or trying again), leading, standby and working.", []string{"state"}, nil)

// Describe implements prometheus.Collector.
func (state) Describe(to chan<- *prometheus.Desc) { to <- stateDesc }

// Collect implements prometheus.Collector.
func (s state) Collect(to chan<- prometheus.Metric) {
	now := s.now()
	for _, is := range s.states {
		to <- prometheus.MustNewConstMetric(stateDesc, prometheus.GaugeValue, number(is == now), is)
	}
}
