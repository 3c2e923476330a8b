package testenv

import (
	"maps"
	"slices"
)

// settingArgs are the server's arguments for opts: testenv's settings, then extra ones, then the caller's.
func settingArgs(opts Options, extra ...string) []string {
	durable := "off"
	if opts.Fsync {
		durable = "on"
	}
	settings := append([]string{
		"listen_addresses=127.0.0.1",
		"fsync=" + durable,
		"full_page_writes=" + durable,
		// Logical decoding, and room for the slots of many tests at once.
		"wal_level=logical",
		"max_replication_slots=40",
		"max_wal_senders=40",
		"max_connections=200",
		"shared_buffers=128MB",
		"timezone=UTC",
		"log_timezone=UTC",
		"log_line_prefix=%m [%p] %q%u@%d ",
		"log_checkpoints=off",
		"log_replication_commands=on",
	}, extra...)
	for _, name := range slices.Sorted(maps.Keys(opts.Settings)) {
		settings = append(settings, name+"="+opts.Settings[name])
	}
	args := make([]string, 0, 2*len(settings))
	for _, setting := range settings {
		args = append(args, "-c", setting) // a later one overrides an earlier one
	}
	return args
}
