// Package metric has what a process counts of its own work, as Prometheus
// collectors. They are package variables, so that whoever does the work counts it
// where it is done; nothing is registered until a process asks for a Registry. Labels
// have few values: none names a user, a table of the app's or a row.
package metric

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

const namespace = "helixd"

// all is what Registry registers.
var all []prometheus.Collector

func add[C prometheus.Collector](c C) C {
	all = append(all, c)
	return c
}

func counter(name, help string) prometheus.Counter {
	return add(prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}))
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return add(prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels))
}

func gauge(name, help string) prometheus.Gauge {
	return add(prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}))
}

func gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return add(prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels))
}

func histogram(name, help string, buckets ...float64) prometheus.Histogram {
	return add(prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}))
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return add(prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels))
}

// Registry gives a registry of all that this process counts, with Go's and the
// process's own metrics and what else is given.
func Registry(more ...prometheus.Collector) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	r.MustRegister(all...)
	r.MustRegister(more...)
	return r
}
