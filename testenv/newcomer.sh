#!/usr/bin/env bash
# Times a newcomer's path: from git clone to the first results, with a home and caches that are empty, downloads included.
#
#   testenv/newcomer.sh [<repository>]
#
# It clones this repository, or the one that is named, into a temporary folder, builds as README.md says, and runs init,
# migrate and demo. What the machine has stays: Go, npm, and what make needs. The database is that of SUPABASE_DB_URL;
# without it, a throwaway one of testenv's, which stands for the hosted project that the newcomer has, and whose making
# does not count. It prints the time of each step, beside what it computed, which other work on the machine does not
# change so much; and ends with an error when the whole took longer than five minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
repository=${1:-$here}
work=$(mktemp -d)
database=''
finish() {
	[ -z "$database" ] || { kill "$database" 2>/dev/null && wait "$database" || true; }
	rm -rf "$work"
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
	[ -s "$work/url" ] || { echo "$0: no database within a minute" >&2; exit 1; }
	SUPABASE_DB_URL=$(cat "$work/url")
	export SUPABASE_DB_URL
fi
for name in "${!HELIX_@}" "${!XDG_@}" GOPATH GOBIN GOCACHE GOMODCACHE npm_config_cache; do unset "$name"; done
export HOME=$work/home GOFLAGS="${GOFLAGS:-} -modcacherw" # so that all can be removed
mkdir "$HOME"

wall=0 computed=0
TIMEFORMAT='%3R %3U %3S'
step() {
	local name=$1 took user system
	shift
	{ time "$@" >"$work/log" 2>&1; } 2>"$work/time" || { cat "$work/log" >&2; echo "$name failed" >&2; exit 1; }
	read -r took user system < <(tr -d '.,' <"$work/time")
	wall=$((wall + 10#$took)) computed=$((computed + 10#$user + 10#$system))
	report "$name" $((10#$took)) $((10#$user + 10#$system))
}
report() { printf '%-24s %5d.%d s %7d.%d s of CPU\n' "$1" $(($2 / 1000)) $(($2 % 1000 / 100)) $(($3 / 1000)) $(($3 % 1000 / 100)); }

step "git clone" git clone --quiet "$repository" "$work/helixd"
cd "$work/helixd"
step "downloads" go list -deps ./cmd/helixd # what make quick would get as it goes
step "make quick" make quick
step "helixd init" bin/helixd init
step "helixd migrate" bin/helixd migrate
step "helixd demo" bin/helixd demo --run
cp "$work/log" "$work/demo"
report "together" "$wall" "$computed"
echo "first results:"
cat "$work/demo"
[ "$wall" -le 300000 ] || { echo "that is longer than five minutes" >&2; exit 1; }
