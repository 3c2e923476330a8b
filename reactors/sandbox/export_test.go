package sandbox

// Waiting is how many calls wait for a worker.
func (p *Pool) Waiting() (n int) {
	p.staff.mu.Lock()
	defer p.staff.mu.Unlock()
	for _, line := range p.staff.waiting {
		n += len(line)
	}
	return n
}
