#!/usr/bin/env bash
# Makes sure that there is libfaketime, with which make chaos moves the test Postgres's clock. Idempotent; silent and
# quick when there is nothing to do. Without it that fault is not run, and the report says so.
set -euo pipefail

say() { echo "testenv/faketime.sh: $*" >&2; }
die() { say "$*"; exit 1; }

compgen -G '/usr/lib*/faketime/libfaketime.so.1' >/dev/null && exit 0
compgen -G '/usr/lib/*/faketime/libfaketime.so.1' >/dev/null && exit 0
command -v apt-get >/dev/null || die "there is no libfaketime: install it"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; } || die "there is no libfaketime: run 'sudo testenv/faketime.sh'"
	as_root=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt_quiet() {
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1
}
say "installing libfaketime"
# A machine image's lists may name versions that the mirror has dropped.
apt_quiet install --no-install-recommends libfaketime || {
	apt_quiet update || die "apt-get update failed: $(tail -n 5 "$log")"
	apt_quiet install --no-install-recommends libfaketime || die "installing libfaketime failed: $(tail -n 5 "$log")"
}
