package metric

// Of the stream and of applies.
var (
	InFlight = gauge("stream_in_flight_bytes", "Bytes that were received and are not yet applied; 0 while this process does not stream.")
	Received = gauge("stream_received_lsn_bytes", "Position in the write-ahead log up to which the server has sent it; 0 while this process does not stream.")
	Flushed  = gauge("stream_flushed_lsn_bytes", "Position in the write-ahead log up to which changes are applied durably; 0 while this process does not stream.")

	CommitToApply = histogram("commit_to_apply_seconds", "From the commit of a source transaction, by the server's clock, to the commit of its results, by this machine's.",
		.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
	ApplyDuration = histogram("apply_duration_seconds", "From the begin of an apply's SQL transaction to its commit.",
		.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60, 300)
	ApplyErrors  = counter("apply_errors_total", "Applies that failed. Nothing of them was kept, and their changes come again. One whose commit was not answered counts once Postgres says what became of it.")
	Transactions = counter("apply_transactions_total", "Source transactions applied.")
	Changes      = counter("apply_changes_total", "Row changes applied.")
	Repairs      = counter("repairs_total", "New slots made, and all rows read again, for a slot or publication that could not be gone on with; the first start is none.")

	LoopDrops      = counters("loop_drops_total", "Changes withheld from the reactor that wrote them.", "reactor")
	MarkersIgnored = counter("markers_ignored_total", "Logical messages that look like helixd's own, and have not its secret or are out of place.")
	DeadLetters    = counters("dead_letters_written_total", "Changes that a reactor could not apply because of their own data.", "reactor")

	Broadcasts        = counter("broadcasts_total", "Messages given to realtime.send: by an apply, once that is durable; by a job, as it ends.")
	BroadcastFailures = counter("broadcast_failures_total", "Messages that realtime.send could not send: it says so in warnings.")
)
