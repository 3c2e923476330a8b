package cluster

// Network is an undirected weighted graph of n nodes: node i's links are
// To[Start[i]:Start[i+1]], and each link is there from both of its ends.
type Network struct {
	Start  []int32 // n+1
	To     []int32
	Weight []float32
}

// Nodes is their number.
func (g *Network) Nodes() int { return max(len(g.Start)-1, 0) }

// Of gives node i's links.
func (g *Network) Of(i int32) (to []int32, weight []float32) {
	from, end := g.Start[i], g.Start[i+1]
	return g.To[from:end], g.Weight[from:end]
}

// induced is the network among some nodes alone, ascending, which are numbered anew
// in their order.
func (g *Network) induced(nodes []int32) *Network {
	number := make([]int32, g.Nodes())
	for i := range number {
		number[i] = -1
	}
	links := 0
	for x, i := range nodes {
		number[i] = int32(x)
		links += int(g.Start[i+1] - g.Start[i])
	}
	s := &Network{make([]int32, len(nodes)+1), make([]int32, 0, links), make([]float32, 0, links)}
	for x, i := range nodes {
		to, weight := g.Of(i)
		for y, j := range to {
			if number[j] >= 0 {
				s.To, s.Weight = append(s.To, number[j]), append(s.Weight, weight[y])
			}
		}
		s.Start[x+1] = int32(len(s.To))
	}
	return s
}
