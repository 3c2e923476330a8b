#!/bin/sh
# Captures what pgoutput sends for each case.sql into frames beside it: every
# message after its length (4 bytes, big endian). Run it against a scratch
# server with wal_level=logical, as superuser (PGHOST, PGPORT, PGUSER say which),
# then "go test ./replication/pgoutput -run Capture -update" and read the diff.
# The committed captures are of Postgres 15.
set -eu
cd "$(dirname "$0")"
export PGDATABASE PGOPTIONS='-c client_min_messages=warning'
for dir in ${*:-*/}; do
	dir=${dir%/}
	PGDATABASE=postgres
	psql -qAtX -v ON_ERROR_STOP=1 -c 'drop database if exists pgoutput_capture' -c 'create database pgoutput_capture'
	PGDATABASE=pgoutput_capture
	psql -qAtX -v ON_ERROR_STOP=1 -f "$dir/case.sql" >/dev/null
	binary=false
	if grep -q '^-- option: binary' "$dir/case.sql"; then binary=true; fi
	psql -qAtX -v ON_ERROR_STOP=1 -c "
		select encode(int4send(length(data)) || data, 'hex')
		from pg_logical_slot_peek_binary_changes('capture', null, null, 'proto_version', '1',
			'publication_names', 'capture', 'messages', 'true', 'binary', '$binary')" |
		perl -ne 'chomp; print pack "H*", $_' >"$dir/frames"
	psql -qAtX -c "select pg_drop_replication_slot('capture')" >/dev/null
	PGDATABASE=postgres
	psql -qAtX -c 'drop database pgoutput_capture'
	wc -c "$dir/frames"
done
