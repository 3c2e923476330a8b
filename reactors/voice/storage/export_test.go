package storage

import "time"

// SetPatience changes how long a Client waits for policies and for Storage.
func (c *Client) SetPatience(policies, storage time.Duration) {
	c.policies, c.patience = policies, storage
}

// Escape is how a path is written into a URL.
var Escape = escape
