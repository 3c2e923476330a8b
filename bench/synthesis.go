package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// clusterEnv makes this binary cluster vectors: in a process of its own, as
// scikit-learn does, so that the peak of its memory is its own.
const clusterEnv = "HELIX_BENCH_CLUSTER"

//go:embed synthesis.py
var sklearnScript []byte

const (
	nameSklearn = "scikit-learn"
	vectorDim   = 1536
	methodGraph = "graph"
)

// clusterJob is what a child of either side reads. Where K is 0 and not given by
// Init, and Eps is 0, helixd picks them.
type clusterJob struct {
	Path           string  `json:"path"` // of vectors, little-endian float32
	Dim            int     `json:"dim"`
	Method         string  `json:"method"`
	MinClusterSize int     `json:"min_cluster_size"`
	MinSamples     int     `json:"min_samples"`
	Eps            float64 `json:"eps"`
	K              int     `json:"k"`
	Init           []int   `json:"init"` // rows that are the first centres
}

// clustered is what it writes.
type clustered struct {
	Seconds float64        `json:"seconds"` // from vectors in memory to labels
	PeakMB  float64        `json:"peak_mb"`
	Labels  cluster.Labels `json:"labels"`
	Insert  float64        `json:"insert"` // seconds of one more row, with graph
}

func clusterMain() int {
	var job clusterJob
	err := json.NewDecoder(os.Stdin).Decode(&job)
	var result clustered
	if err == nil {
		result, err = clusterRows(context.Background(), job)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: cluster with %s: %v\n", job.Method, err)
		return 1
	}
	return 0
}

func clusterRows(ctx context.Context, job clusterJob) (result clustered, err error) {
	m, appended, err := readVectors(job.Path, job.Dim)
	if err != nil {
		return result, err
	}
	began := time.Now().Add(-appended)
	switch job.Method {
	case "hdbscan":
		result.Labels, err = cluster.HDBSCAN(ctx, m, cluster.HDBSCANOptions{MinClusterSize: job.MinClusterSize, MinSamples: job.MinSamples})
	case "dbscan":
		result.Labels, err = cluster.DBSCAN(ctx, m, cluster.DBSCANOptions{Eps: job.Eps, MinSamples: job.MinSamples})
	case "kmeans":
		o := cluster.KMeansOptions{K: job.K, Seed: 1}
		for _, i := range job.Init {
			o.Init = append(o.Init, m.Row(i))
		}
		result.Labels, err = cluster.KMeans(ctx, m, o)
	case methodGraph:
		return graphRows(ctx, m, began)
	default:
		err = fmt.Errorf("there is no method %q", job.Method)
	}
	result.Seconds, result.PeakMB = time.Since(began).Seconds(), peakRSS(os.Getpid())
	return result, err
}

// inserts is how many rows come after the first clustering, one at a time.
const inserts = 9

// graphRows clusters as synthesis does by default, and then again after each row
// that comes.
func graphRows(ctx context.Context, m *vector.Matrix, began time.Time) (result clustered, err error) {
	x, err := vector.NewIndex(ctx, m, cluster.Neighbours)
	if err != nil {
		return result, err
	}
	c, err := cluster.Graph(ctx, x, cluster.GraphOptions{})
	if err != nil {
		return result, err
	}
	result.Labels, result.Seconds, result.PeakMB = c.Labels, time.Since(began).Seconds(), peakRSS(os.Getpid())
	x.Changed() // all, so far
	var took []float64
	random := rand.New(rand.NewPCG(2, 2))
	for range inserts {
		v := append([]float32(nil), m.Row(random.IntN(m.Rows()))...) // something like one that is there
		for i := range v {
			v[i] += float32(random.NormFloat64() * 0.5 / math.Sqrt(float64(len(v))))
		}
		began := time.Now()
		x.Insert(v)
		c.Labels = append(c.Labels, cluster.Noise)
		if c, err = cluster.UpdateGraph(ctx, x, c, x.Changed(), cluster.GraphOptions{}); err != nil {
			return result, err
		}
		took = append(took, time.Since(began).Seconds())
	}
	result.Insert = median(took)
	return result, nil
}

// readVectors also tells how long it took to make a Matrix of them, without reading.
func readVectors(path string, dim int) (m *vector.Matrix, appended time.Duration, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	m = vector.NewMatrix(int(stat.Size())/(4*dim), dim)
	in, row, v := bufio.NewReaderSize(f, 1<<20), make([]byte, 4*dim), make([]float32, dim)
	for {
		if _, err := io.ReadFull(in, row); errors.Is(err, io.EOF) {
			return m, appended, nil
		} else if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", path, err)
		}
		for x := range v {
			v[x] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*x:]))
		}
		began := time.Now()
		if !m.Append(v) {
			return nil, 0, fmt.Errorf("%s: a row has no direction", path)
		}
		appended += time.Since(began)
	}
}

// writeVectors makes n rows that look like embeddings of short texts: all of them
// have a direction in common, four fifths one of n/100 more, and what is left is
// their own.
func writeVectors(path string, n int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	random := rand.New(rand.NewPCG(1, uint64(n)))
	normal := func(scale float64) []float32 {
		v := make([]float32, vectorDim)
		for x := range v {
			v[x] = float32(random.NormFloat64() * scale)
		}
		return v
	}
	common := normal(1)
	centres := make([][]float32, n/100)
	for c := range centres {
		centres[c] = normal(1)
	}
	for i := range n {
		v := normal(1)
		if i%5 > 0 {
			centre := centres[random.IntN(len(centres))]
			for x := range v {
				v[x] = centre[x] + 0.6*v[x]
			}
		}
		var square float64
		for x := range v {
			v[x] += common[x]
			square += float64(v[x]) * float64(v[x])
		}
		for x := range v {
			v[x] /= float32(math.Sqrt(square))
		}
		if err := binary.Write(out, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	return errors.Join(out.Flush(), f.Close())
}

// sklearn clusters with scikit-learn.
func sklearn(ctx context.Context, python string, job clusterJob) (result clustered, err error) {
	_, err = runJob(ctx, exec.CommandContext(ctx, python, "-P", "-c", string(sklearnScript)), job, &result)
	return result, err
}

// clusters measures helixd's methods beside scikit-learn's, the default pipeline, and
// how good they are at telling intents apart.
func clusters(ctx context.Context, b *bench) error {
	dir, err := b.source(ctx)
	if err != nil {
		return err
	}
	setup := exec.CommandContext(ctx, filepath.Join(dir, "testenv", "sklearn.sh"))
	setup.Stderr = os.Stderr
	out, err := setup.Output()
	if err != nil {
		return fmt.Errorf("testenv/sklearn.sh: %w", err)
	}
	python := strings.TrimSpace(string(out))
	sizes := []int{1000, 5000, 20_000}
	if b.quick {
		sizes = sizes[:2]
	}
	for _, n := range sizes {
		if err := b.clusterSpeed(ctx, python, n); err != nil {
			return err
		}
	}
	return b.clusterQuality(ctx, python, dir)
}

func (b *bench) clusterSpeed(ctx context.Context, python string, n int) error {
	path := filepath.Join(b.dir, "vectors")
	if err := writeVectors(path, n); err != nil {
		return err
	}
	defer os.Remove(path)
	runs := min(b.runs, 3)
	if n > 5000 {
		runs = 1
	}
	section := fmt.Sprintf("clusters of %s vectors", number(float64(n)))
	init := make([]int, n/100)
	for c := range init {
		init[c] = c * 100
	}
	for _, job := range []clusterJob{
		{Method: "hdbscan", MinClusterSize: 5, MinSamples: 5},
		{Method: "dbscan", Eps: 0.25, MinSamples: 5},
		{Method: "kmeans", K: len(init), Init: init},
	} {
		job.Path, job.Dim = path, vectorDim
		b.say("  %s of %d", job.Method, n)
		var own, peer []clustered
		for range runs {
			var result clustered
			if _, err := runChild(ctx, clusterEnv, job, &result); err != nil {
				return err
			}
			own = append(own, result)
			result, err := sklearn(ctx, python, job)
			if err != nil {
				return err
			}
			peer = append(peer, result)
		}
		took := newFigure(section, job.Method, "s", seconds(own)...).beside(nameSklearn, seconds(peer)...)
		if job.Method == "hdbscan" {
			faster := map[int]float64{1000: 2, 5000: 5, 20_000: 10}[n]
			took.aim(fmt.Sprintf("≤ 1/%g of the peer", faster), took.Ratio*faster <= 1)
		}
		b.report.add(took,
			newFigure(section, "  "+job.Method+", peak RSS", "MB", peaks(own)...).beside(nameSklearn, peaks(peer)...),
			newFigure(section, "  "+job.Method+", adjusted Rand index to the peer", "", cluster.ARI(own[0].Labels, peer[0].Labels)))
	}
	b.say("  %s of %d", methodGraph, n)
	var own []clustered
	var insert []float64
	for range runs {
		var result clustered
		if _, err := runChild(ctx, clusterEnv, clusterJob{Path: path, Dim: vectorDim, Method: methodGraph}, &result); err != nil {
			return err
		}
		own, insert = append(own, result), append(insert, result.Insert)
	}
	took := newFigure(section, "graph, the default", "s", seconds(own)...)
	peak := newFigure(section, "  graph, peak RSS", "MB", peaks(own)...)
	again := newFigure(section, "  one more memory, beside a rebuild", "s", insert...).beside("graph", seconds(own)...)
	switch n {
	case 5000:
		took.aim("≤ 1", took.Median <= 1)
	case 20_000:
		took.aim("≤ 12", took.Median <= 12)
		peak.below(600)
		again.aim("≤ 1/20 of the rebuild", again.Ratio*20 <= 1)
	}
	b.report.add(took, peak, again)
	return nil
}

func seconds(runs []clustered) (values []float64) {
	for _, r := range runs {
		values = append(values, r.Seconds)
	}
	return values
}

func peaks(runs []clustered) (values []float64) {
	for _, r := range runs {
		values = append(values, r.PeakMB)
	}
	return values
}
