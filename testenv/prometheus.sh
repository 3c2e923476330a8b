#!/usr/bin/env bash
# Makes sure that Prometheus and promtool are there, for the tests of alerts and the dashboard. Prints the folder to put
# in front of PATH, or nothing where PATH is well as it is. Idempotent. Debian's package is unpacked under .helix, not
# installed: it would start a server of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v promtool >/dev/null && command -v prometheus >/dev/null && exit 0
dir=$PWD/.helix/prometheus
if [ ! -x "$dir/usr/bin/promtool" ]; then
	command -v apt-get >/dev/null || { echo "testenv/prometheus.sh: install Prometheus" >&2; exit 1; }
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	chmod 755 "$work" # apt may fetch as another user
	echo "testenv/prometheus.sh: fetching Prometheus into .helix" >&2
	(cd "$work" && apt-get -qq download prometheus >/dev/null 2>&1) || {
		[ "$(id -u)" -eq 0 ] && apt-get -qq update >/dev/null
		(cd "$work" && apt-get -qq download prometheus)
	}
	mkdir -p "$dir"
	dpkg -x "$work"/prometheus_*.deb "$dir"
fi
"$dir/usr/bin/promtool" --version >/dev/null 2>&1 || { echo "testenv/prometheus.sh: promtool does not run here" >&2; exit 1; }
echo "$dir/usr/bin"
