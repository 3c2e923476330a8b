package sandbox

import (
	"testing"
	"time"
)

// SetCompileWall says how long compiling may take, until the test ends.
func SetCompileWall(t testing.TB, d time.Duration) {
	before := compileWall
	t.Cleanup(func() { compileWall = before })
	compileWall = d
}

// SetIdleTime says after how long workers end that are not needed.
func (p *Pool) SetIdleTime(d time.Duration) {
	p.staff.mu.Lock()
	defer p.staff.mu.Unlock()
	p.staff.idleTime = d
}

// Staffed is whether there are so many children, starting ones included.
func (p *Pool) Staffed() int {
	p.staff.mu.Lock()
	defer p.staff.mu.Unlock()
	return p.staff.count
}

// Waiting is how many calls wait for a worker.
func (p *Pool) Waiting() (n int) {
	p.staff.mu.Lock()
	defer p.staff.mu.Unlock()
	for _, line := range p.staff.waiting {
		n += len(line)
	}
	return n
}
