package child

import (
	"bytes"
	"sync"
)

// Output keeps what a program says, for who reads it meanwhile.
type Output struct {
	Most int // bytes of its end that are kept; 0: all of it

	mu   sync.Mutex
	said bytes.Buffer
}

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if over := o.said.Len() + len(p) - o.Most; o.Most > 0 && over > 0 {
		o.said.Next(over)
	}
	return o.said.Write(p)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.said.String()
}
