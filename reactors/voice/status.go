package voice

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// Of voice_recordings.status.
const (
	statusPending    = "pending"
	statusProcessing = "processing"
	statusDone       = "done"
	statusFailed     = "failed"
)

// tell sends the user's devices what became of a recording, when the transaction
// commits.
func (s *Service) tell(ctx context.Context, tx pgx.Tx, c *claim, status string, record map[string]any) error {
	return s.results.Tell(ctx, tx, reactors.Broadcast{UserID: c.user.String(), Op: replication.Update, Table: "voice_recordings",
		Key: map[string]any{"id": c.id}, ID: c.id.String(), Status: &status, Record: func() any { return record }})
}

// maxBroadcast is the size of a transcript that goes along, in bytes; a longer one
// the client selects.
const maxBroadcast = 4 << 10

// Healthy is a Transcriber that knows how well its provider does.
type Healthy interface {
	// Health gives a sentence of why it does not.
	Health() (bool, string)
}

// Details implements reactors.Service: whether recordings can be transcribed here.
func (s *Service) Details() (string, map[string]any) {
	if s.provider == nil {
		details := map[string]any{"healthy": false, "reason": errNotConfigured.Message}
		if off := s.cfg.Off; off != "" {
			details["off"], details["reason"] = off, "Recordings are not transcribed: "+off+" is off."
		}
		return name, details
	}
	details := map[string]any{"healthy": true, "provider": s.provider.Name(), "decoder": s.decoder != nil, "storage": s.objects != nil}
	if h, ok := s.provider.(Healthy); ok {
		if healthy, reason := h.Health(); !healthy {
			details["healthy"], details["reason"] = false, reason
		}
	}
	return name, details
}
