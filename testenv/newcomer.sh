#!/usr/bin/env bash
# Times a newcomer's path: from git clone to the first results, on a clean machine's caches, downloads included.
#
#   testenv/newcomer.sh [<repository>]
#
# It clones this repository, or the one that is named, into a temporary folder, with empty caches of Go and npm, builds
# as README.md says, and runs init, migrate and demo. The database is that of SUPABASE_DB_URL; without it, a throwaway one of
# testenv's, which stands for the hosted project that the newcomer has, and whose making does not count. It ends with an
# error when the whole took longer than five minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
repository=${1:-$here}
work=$(mktemp -d)
database=''
finish() {
	[ -z "$database" ] || { kill "$database" 2>/dev/null && wait "$database" || true; }
	chmod -R u+w "$work" && rm -rf "$work" # Go's modules are read-only
}
trap finish EXIT
trap 'exit 130' INT TERM

if [ -z "${SUPABASE_DB_URL:-}" ]; then
	(cd "$here" && go build -o "$work/database" ./testenv/throwaway)
	"$work/database" >"$work/url" &
	database=$!
	for _ in $(seq 300); do
		[ -s "$work/url" ] && break
		kill -0 "$database" || exit 1
		sleep 0.2
	done
	SUPABASE_DB_URL=$(cat "$work/url")
	export SUPABASE_DB_URL
fi
export GOCACHE=$work/gocache GOMODCACHE=$work/gomodcache npm_config_cache=$work/npm GOFLAGS=-modcacherw
unset HELIX_SLOT HELIX_CACHE_DIR

total=0
step() {
	local name=$1 began took
	shift
	began=$(date +%s%N)
	"$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; echo "$name failed" >&2; exit 1; }
	took=$((($(date +%s%N) - began) / 1000000))
	total=$((total + took))
	printf '%-28s %7d.%d s\n' "$name" $((took / 1000)) $((took % 1000 / 100))
}
step "git clone" git clone --quiet "$repository" "$work/helixd"
cd "$work/helixd"
step "modules" go mod download
step "engines" make engines
step "build" make build
step "init" bin/helixd init
step "migrate" bin/helixd migrate
step "demo, first results" bin/helixd demo --run
cat "$work/log"
printf '%-28s %7d.%d s\n' together $((total / 1000)) $((total % 1000 / 100))
[ "$total" -le 300000 ] || { echo "that is longer than five minutes" >&2; exit 1; }
