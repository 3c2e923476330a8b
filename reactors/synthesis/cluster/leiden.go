package cluster

import (
	"math/rand/v2"
	"slices"
)

// LeidenOptions say how to look for communities.
type LeidenOptions struct {
	Resolution float64 // γ of Modularity
	Seed       uint64  // of the order in which nodes are visited
	Iterations int     // at most; 0 is 2. Fewer are run where one changes nothing.
}

// Leiden finds communities of high modularity (Traag, Waltman and van Eck 2019): nodes
// move to the best neighbouring community, each community is refined into connected parts,
// and the parts are the nodes of the next, smaller network. The refinement takes the best
// merger, as the authors' libleidenalg does, instead of a random one. Every community is
// connected. The labels are numbered by descending size.
func Leiden(g *Network, o LeidenOptions) Labels {
	n := g.Nodes()
	of := make(Labels, n) // each node alone, at first
	for i := range of {
		of[i] = int32(i)
	}
	if o.Iterations == 0 {
		o.Iterations = 2
	}
	whole := newLevel(g)
	if whole.total == 0 {
		of.number(1)
		return of
	}
	gamma := o.Resolution / whole.total
	random := rand.New(rand.NewPCG(o.Seed, uint64(n)))
	for range o.Iterations {
		of.compact()
		before := slices.Clone(of)
		whole.optimise(of, gamma, random)
		if of.same(before) {
			break
		}
	}
	of.number(1)
	return of
}

// compact renames the labels, none of which is Noise, by their first rows, and gives
// their number.
func (l Labels) compact() int {
	name := make([]int32, l.Clusters())
	used := int32(0)
	for i, c := range l {
		if name[c] == 0 {
			used++
			name[c] = used
		}
		l[i] = name[c] - 1
	}
	return int(used)
}

// same reports whether two labellings without noise are one partition. other is compact.
func (l Labels) same(other Labels) bool {
	mine := slices.Clone(l)
	mine.compact()
	return slices.Equal(mine, other)
}

// level is a network whose nodes are nodes of the first one, or sets of them.
type level struct {
	*Network
	mass  []float64 // of each node: the sum of its weights, loops counted twice
	total float64   // of the masses: 2m
}

func newLevel(g *Network) *level {
	v := &level{Network: g, mass: make([]float64, g.Nodes())}
	for i := range v.mass {
		_, weight := g.Of(int32(i))
		for _, w := range weight {
			v.mass[i] += float64(w)
		}
		v.total += v.mass[i]
	}
	return v
}

// optimise is one iteration, over all levels, from the communities in of, which it
// replaces.
func (v *level) optimise(of Labels, gamma float64, random *rand.Rand) {
	order := make([]int32, v.Nodes())
	for i := range order {
		order[i] = int32(i)
	}
	random.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	v.move(of, gamma, order)
	communities := of.compact()
	if communities == v.Nodes() {
		return
	}
	part := v.refine(of, gamma, random)
	parts := part.compact()
	if parts == v.Nodes() {
		return
	}
	above := v.aggregate(part, parts)
	ofParts := make(Labels, parts)
	for i, p := range part {
		ofParts[p] = of[i]
	}
	above.optimise(ofParts, gamma, random)
	for i, p := range part {
		of[i] = ofParts[p]
	}
}

// links sums up a node's weights by community.
type links struct {
	weight []float64 // by community; 0 but for those touched
	to     []int32   // the communities touched
}

func (l *links) collect(g *Network, i int32, of Labels) {
	l.clear()
	to, weight := g.Of(i)
	for x, j := range to {
		if j == i {
			continue
		}
		c := of[j]
		if l.weight[c] == 0 {
			l.to = append(l.to, c)
		}
		l.weight[c] += float64(weight[x])
	}
}

func (l *links) clear() {
	for _, c := range l.to {
		l.weight[c] = 0
	}
	l.to = l.to[:0]
}

// least is the gain, in weight, below which a move is rounding.
const least = 1e-9

// move is Leiden's fast local moving: each node of a queue, at first those given, joins the community with the greatest gain, or an empty one;
// neighbours outside of it are queued again. The numbers of communities stay below the
// number of nodes.
func (v *level) move(of Labels, gamma float64, first []int32) {
	n := v.Nodes()
	mass, size := make([]float64, n), make([]int32, n)
	for i, c := range of {
		mass[c] += v.mass[i]
		size[c]++
	}
	var empty []int32
	for c := n - 1; c >= 0; c-- {
		if size[c] == 0 {
			empty = append(empty, int32(c))
		}
	}
	queued, queue := make([]bool, n), make([]int32, n) // a ring
	waiting := 0
	for _, i := range first {
		if !queued[i] {
			queue[waiting], queued[i] = i, true
			waiting++
		}
	}
	near := links{weight: make([]float64, n)}
	for at := 0; waiting > 0; waiting-- {
		i := queue[at]
		at++
		if at == n {
			at = 0
		}
		queued[i] = false
		near.collect(v.Network, i, of)
		from, share := of[i], gamma*v.mass[i]
		best, gain := from, near.weight[from]-share*(mass[from]-v.mass[i])
		for _, c := range near.to {
			if c == from {
				continue
			}
			if g := near.weight[c] - share*mass[c]; g > gain+least {
				best, gain = c, g
			}
		}
		if gain < -least && size[from] > 1 {
			best = empty[len(empty)-1]
		}
		if best == from {
			continue
		}
		if size[best] == 0 {
			empty = empty[:len(empty)-1]
		}
		mass[from] -= v.mass[i]
		mass[best] += v.mass[i]
		size[from]--
		size[best]++
		if size[from] == 0 {
			mass[from] = 0
			empty = append(empty, from)
		}
		of[i] = best
		to, _ := v.Of(i)
		for _, j := range to {
			if of[j] != best && !queued[j] {
				end := at + waiting - 1 // this node is still counted
				if end >= n {
					end -= n
				}
				queue[end], queued[j] = j, true
				waiting++
			}
		}
	}
}

// refine splits each community into parts that hold together: nodes, alone at first,
// merge into the part of their community with the greatest gain, where both the
// node and the part are well connected to the rest of the community.
func (v *level) refine(of Labels, gamma float64, random *rand.Rand) Labels {
	n := v.Nodes()
	part := make(Labels, n)
	whole := make([]float64, n)  // mass of each community
	mass := slices.Clone(v.mass) // of each part
	inside := make([]float64, n) // of each part: weight to the rest of its community
	alone := make([]bool, n)     // whether a part is one node
	order, near := make([]int32, n), links{weight: make([]float64, n)}
	for i, c := range of {
		part[i], order[i], alone[i] = int32(i), int32(i), true
		whole[c] += v.mass[i]
		to, weight := v.Of(int32(i))
		for x, j := range to {
			if of[j] == c && int(j) != i {
				inside[i] += float64(weight[x])
			}
		}
	}
	random.Shuffle(n, func(a, b int) { order[a], order[b] = order[b], order[a] })
	wellConnected := func(p int32, community int32) bool {
		return inside[p] >= gamma*mass[p]*(whole[community]-mass[p])-least
	}
	for _, i := range order {
		c := of[i]
		if !alone[part[i]] || part[i] != i || !wellConnected(i, c) {
			continue
		}
		near.clear()
		to, weight := v.Of(i)
		for x, j := range to {
			if j == i || of[j] != c {
				continue
			}
			if near.weight[part[j]] == 0 {
				near.to = append(near.to, part[j])
			}
			near.weight[part[j]] += float64(weight[x])
		}
		best, gain := i, 0.0
		for _, p := range near.to {
			if g := near.weight[p] - gamma*v.mass[i]*mass[p]; g > gain+least && wellConnected(p, c) {
				best, gain = p, g
			}
		}
		if best == i {
			continue
		}
		part[i] = best
		alone[best] = false
		mass[best] += v.mass[i]
		inside[best] += inside[i] - 2*near.weight[best]
	}
	return part
}

// aggregate makes each part a node; the weight inside of it becomes a loop, counted from
// both ends.
func (v *level) aggregate(part Labels, parts int) *level {
	g := &Network{Start: make([]int32, 1, parts+1), To: make([]int32, 0, len(v.To)/2), Weight: make([]float32, 0, len(v.To)/2)}
	above := &level{g, make([]float64, parts), v.total}
	sum := links{weight: make([]float64, parts)}
	for p, members := range part.Members() {
		sum.clear()
		for _, i := range members {
			above.mass[p] += v.mass[i]
			to, weight := v.Of(i)
			for x, j := range to {
				q := part[j]
				if sum.weight[q] == 0 {
					sum.to = append(sum.to, q)
				}
				sum.weight[q] += float64(weight[x])
			}
		}
		for _, q := range sum.to {
			g.To, g.Weight = append(g.To, q), append(g.Weight, float32(sum.weight[q]))
		}
		g.Start = append(g.Start, int32(len(g.To)))
	}
	return above
}
