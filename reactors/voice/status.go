package voice

// Healthy is a Transcriber that knows how well its provider does.
type Healthy interface {
	// Health gives a sentence of why it does not.
	Health() (bool, string)
}

// Details implements reactors.Service: whether recordings can be transcribed here.
func (s *Service) Details() (string, map[string]any) {
	if s.provider == nil {
		return name, map[string]any{"healthy": false, "reason": errNotConfigured.Message}
	}
	details := map[string]any{"healthy": true, "provider": s.provider.Name(), "decoder": s.decoder != nil, "storage": s.objects != nil}
	if h, ok := s.provider.(Healthy); ok {
		if healthy, reason := h.Health(); !healthy {
			details["healthy"], details["reason"] = false, reason
		}
	}
	return name, details
}
