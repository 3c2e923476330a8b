// Package tools holds the tools that a workflow's steps can call by name: the
// built-in ones, which are made of the host calls that sandboxed programs have too
// (so the same rights, bounds and audit hold), and the tools of MCP servers that
// an operator lists.
package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/helixd/helixd/reactors/skills/schema"
	"github.com/helixd/helixd/reactors/skills/workflow"
)

// HostCall serves a host call of the run: name is one of those in builtIn, request
// and response are JSON.
type HostCall func(ctx context.Context, name string, request []byte) ([]byte, error)

// Tools are those of one run.
type Tools struct {
	Host HostCall
	MCP  *MCP // nil: no servers
}

// builtIn are the tools by name, with the host call that each is, where it is one.
var builtIn = map[string]string{
	"http": "http.fetch", "memory.search": "memories.search", "memory.write": "memories.write", "llm": "llm.complete", "format": "",
}

// Known reports whether there is a tool of that name; an MCP server is not asked
// whether it has its tool.
func Known(name string, mcp *MCP) bool {
	if _, ok := builtIn[name]; ok {
		return true
	}
	server, _, ok := splitMCP(name)
	return ok && mcp.has(server)
}

// Call calls a tool. Errors are *workflow.Error, or the host call's own.
func (t *Tools) Call(ctx context.Context, name string, input json.RawMessage, idempotencyKey string) (json.RawMessage, error) {
	if server, tool, ok := splitMCP(name); ok {
		if !t.MCP.has(server) {
			return nil, failure("tool_not_found", "the operator has listed no MCP server %q", schema.Clip(server))
		}
		return t.MCP.call(ctx, server, tool, input, idempotencyKey)
	}
	hostCall, ok := builtIn[name]
	switch {
	case !ok:
		return nil, failure("tool_not_found", "there is no tool %q", schema.Clip(name))
	case name == "format":
		return format(input)
	}
	return t.Host(ctx, hostCall, input)
}

func splitMCP(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp:")
	if !ok {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, "/")
	return server, tool, ok && server != "" && tool != ""
}

func failure(code, text string, args ...any) *workflow.Error {
	return &workflow.Error{Code: code, Message: fmt.Sprintf(text, args...)}
}
