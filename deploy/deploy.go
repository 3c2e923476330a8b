// Package deploy embeds what helixd init writes of this folder, so that there is
// one text of each.
package deploy

import _ "embed"

// Unit is a systemd unit of helixd run.
//
//go:embed systemd/helixd.service
var Unit string

// Compose is a file for docker compose.
//
//go:embed compose.yaml
var Compose string
