package synthesis

import (
	"container/list"
	"sync"

	"github.com/google/uuid"
)

// cache keeps the Spaces of the users who were synthesised last, up to so many
// bytes: one more memory is then compared with the others without reading them
// again. It holds nothing that is not in Postgres; those of deleted accounts are
// swept.
type cache struct {
	mu    sync.Mutex
	most  int64
	bytes int64
	order *list.List // of entries, the latest first
	of    map[uuid.UUID]*list.Element
}

type entry struct {
	user  uuid.UUID
	space *Space
	bytes int64
}

func newCache(most int64) *cache {
	return &cache{most: most, order: list.New(), of: map[uuid.UUID]*list.Element{}}
}

// take gives the user's Space, which is the caller's until it puts it back; nil:
// there is none.
func (c *cache) take(user uuid.UUID) *Space {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.of[user]
	if e == nil {
		return nil
	}
	c.remove(e)
	return e.Value.(*entry).space
}

// put keeps a Space that is whole.
func (c *cache) put(user uuid.UUID, s *Space) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.of[user]; old != nil {
		c.remove(old)
	}
	e := &entry{user, s, s.bytes()}
	c.of[user] = c.order.PushFront(e)
	c.bytes += e.bytes
	for c.bytes > c.most {
		c.remove(c.order.Back())
	}
}

// users are those whose Spaces it keeps.
func (c *cache) users() []uuid.UUID {
	c.mu.Lock()
	defer c.mu.Unlock()
	users := make([]uuid.UUID, 0, len(c.of))
	for user := range c.of {
		users = append(users, user)
	}
	return users
}

// held is how many bytes it keeps.
func (c *cache) held() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

func (c *cache) remove(e *list.Element) {
	c.bytes -= e.Value.(*entry).bytes
	delete(c.of, e.Value.(*entry).user)
	c.order.Remove(e)
}
