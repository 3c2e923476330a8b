// Package docs holds what is documentation and is read by programs too.
package docs

import _ "embed"

// StepsSchema is the JSON Schema (2020-12) of a composite skill's steps.
//
//go:embed steps.schema.json
var StepsSchema []byte
