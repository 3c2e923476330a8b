#!/usr/bin/env bash
# Runs the tests on Postgres 17, in containers of the image that testenv/image.sh builds.
#
#   testenv/test-17.sh [packages]
#
# Where no container engine answers and this is root, it starts dockerd, with its data under .helix, and ends it
# afterwards. Exit status 3: that cannot be done on this machine; the last line says why.
set -euo pipefail
cd "$(dirname "$0")/.."

image=helix-testenv:17
[ $# -gt 0 ] || set -- ./...

cannot() { echo "testenv/test-17.sh: not run on Postgres 17: $*" >&2; exit 3; }
answers() { timeout 10 docker version >/dev/null 2>&1; }

daemon='' run='' bridge=false
# shellcheck disable=SC2329 # the trap calls it
finish() {
	# What testenv had no time to remove: a container whose process is gone.
	docker ps -a --filter label=helixd.testenv.owner --format '{{.ID}} {{.Label "helixd.testenv.owner"}}' 2>/dev/null |
		while read -r id owner; do
			[ "${owner%/*}" != "$(hostname)" ] || kill -0 "${owner##*/}" 2>/dev/null || docker rm -fv "$id" >/dev/null
		done || true
	if [ -n "$daemon" ]; then
		docker network prune --force >/dev/null 2>&1 || true # the library makes one
		kill "$daemon" 2>/dev/null || true
		wait "$daemon" || true
		$bridge || ip link delete docker0 2>/dev/null || true
	fi
	[ -z "$run" ] || rm -rf "$run"
}
trap finish EXIT
trap 'exit 130' INT TERM

command -v docker >/dev/null || cannot "there is no docker"
if ! answers; then
	command -v dockerd >/dev/null || cannot "no container engine answers, and there is no dockerd"
	[ "$(id -u)" -eq 0 ] || cannot "no container engine answers, and only root may start one"
	exec 9>/tmp/helixd-dockerd.lock # two daemons would give out the same addresses
	flock 9
	run=$(mktemp -d)
	export DOCKER_HOST=unix://$run/docker.sock
	[ ! -e /sys/class/net/docker0 ] || bridge=true
	# Without iptables: nothing but published ports is needed, and those have the proxy.
	dockerd --data-root "$PWD/.helix/docker" --exec-root "$run/exec" --pidfile "$run/pid" --host "$DOCKER_HOST" \
		--iptables=false --ip6tables=false >"$run/log" 2>&1 9>&- &
	daemon=$!
	for _ in $(seq 120); do
		answers && break
		kill -0 "$daemon" 2>/dev/null || break
		sleep 0.25
	done
	answers || cannot "dockerd did not start: $(tail -n 1 "$run/log")"
fi

if ! docker image inspect "$image" >/dev/null 2>&1; then
	if ! command -v mmdebstrap >/dev/null; then
		if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
			cannot "the image needs mmdebstrap"
		fi
		DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends mmdebstrap >/dev/null || cannot "mmdebstrap cannot be installed"
	fi
	testenv/image.sh || cannot "the image could not be built"
fi

export HELIX_TESTENV=docker HELIX_TESTENV_IMAGE=$image TESTCONTAINERS_RYUK_DISABLED=true
"${GO:-go}" test -race -timeout 30m "$@"
