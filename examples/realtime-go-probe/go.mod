module github.com/helixd/helixd/examples/realtime-go-probe

go 1.26.0

require (
	github.com/coder/websocket v1.8.14
	github.com/supabase-community/realtime-go v0.1.1
)

require nhooyr.io/websocket v1.8.11 // indirect
