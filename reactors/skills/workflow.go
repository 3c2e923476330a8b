package skills

import (
	"context"
	"encoding/json"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/host"
)

// errNoWorkflows is what composite skills come to in a build without the engine.
var errNoWorkflows = sandbox.Errorf(sandbox.Unavailable, "This helixd was built without the engine of composite skills.")

func (s *Service) validateSteps(context.Context, *definition) (*Error, error) {
	return rowError(errNoWorkflows), nil
}

func (r *run) workflow(context.Context) error { return errNoWorkflows }

func (s *Service) callWorkflow(context.Context, *definition, *host.Run, json.RawMessage) (json.RawMessage, error) {
	return nil, errNoWorkflows
}
