package stream

import (
	"context"
	"fmt"
)

// LockSpace is the lock's, for tests that take it.
const LockSpace = lockSpace

// Unlock loses the lock, as nothing but a defect would.
func (s *Stream) Unlock(ctx context.Context) error {
	_, err := s.query(ctx, fmt.Sprintf("select pg_advisory_unlock(%d, hashtext(%s))", lockSpace, quoteLiteral(s.cfg.Slot)))
	return err
}
