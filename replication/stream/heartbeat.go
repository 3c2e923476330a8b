package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// StaleAfter is the age of a heartbeat at which a standby takes the lead. A
	// heartbeat that hangs and the one after it on a new connection fit in.
	StaleAfter     = 5 * time.Second
	heartbeatEvery = time.Second
	beatTimeout    = 1500 * time.Millisecond
)

// Heartbeat shows the standbys that this leader lives, until ctx ends, which is
// no error. It has a connection of its own: no long apply, full pool or slow
// commit keeps it. A lost one it makes anew. It returns ErrDeposed when
// another process leads, and another error only when the server goes down: then
// the walsender must be let go, since the server waits for it.
func (s *Stream) Heartbeat(ctx context.Context) error {
	var conn *pgconn.PgConn
	defer func() { closeConn(conn) }()
	tick := time.NewTicker(heartbeatEvery)
	defer tick.Stop()
	for failed := false; ; {
		err := s.beat(ctx, &conn)
		var pgErr *pgconn.PgError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrDeposed):
			return fmt.Errorf("heartbeat: %w", err)
		case conn == nil && errors.As(err, &pgErr) && strings.HasPrefix(pgErr.Code, "57P"): // it does not let us in again
			return fmt.Errorf("heartbeat: %w", err)
		case err != nil:
			s.cfg.Log.Warn().Err(err).Msg("the heartbeat was not written; a standby may take the lead")
			closeConn(conn)
			conn = nil
			if !failed { // at once, on a new connection
				failed = true
				continue
			}
		default:
			failed = false
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// beat writes one heartbeat, after connecting where need be.
func (s *Stream) beat(ctx context.Context, conn **pgconn.PgConn) error {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	if *conn == nil {
		// Standbys must see it, the disk need not: a commit that waits for a slow disk
		// says nothing of the leader.
		c, err := s.connect(ctx, map[string]string{"synchronous_commit": "off"})
		if err != nil {
			return err
		}
		*conn = c
	}
	sent := time.Now()
	rows, err := query(ctx, *conn, fmt.Sprintf("update helix.leaders set heartbeat_at = now() where slot = %s and holder = %s returning true",
		quoteLiteral(s.cfg.Slot), quoteLiteral(s.cfg.Name)))
	if err == nil && len(rows) == 0 {
		return ErrDeposed
	}
	if err == nil && s.cfg.OnSign != nil {
		s.cfg.OnSign(sent)
	}
	return err
}

// connect opens an SQL connection to the server that Open found.
func (s *Stream) connect(ctx context.Context, params map[string]string) (*pgconn.PgConn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	cfg := s.look.Copy()
	maps.Copy(cfg.RuntimeParams, params)
	return pgconn.ConnectConfig(ctx, cfg)
}

func closeConn(conn *pgconn.PgConn) {
	if conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeTimeout)
	defer cancel()
	_ = conn.Close(ctx)
}
