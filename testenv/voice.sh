#!/usr/bin/env bash
# Makes sure that this machine can make, record and recognise speech, for the tests of voice and the demo: ffmpeg, flite,
# sox, Chromium, PulseAudio, Node 18 or newer, and the recogniser of testenv/asr. Idempotent; silent and quick when there
# is nothing to do. Where this fails the tests that need it are skipped, and say so.
set -euo pipefail
cd "$(dirname "$0")"

say() { echo "testenv/voice.sh: $*" >&2; }
die() { say "$*"; exit 1; }

# missing prints the Debian packages of programs that are not there.
missing() {
	local program package
	while read -r program package; do
		command -v "$program" >/dev/null || echo "$package"
	done <<-end
		ffmpeg ffmpeg
		flite flite
		sox sox
		chromium chromium
		pulseaudio pulseaudio
		pactl pulseaudio-utils
		node nodejs
		npm npm
	end
}

packages=$(missing)
if [ -n "$packages" ]; then
	packages=${packages//$'\n'/ }
	command -v apt-get >/dev/null || die "tests of voice need $packages: install them"
	as_root=()
	if [ "$(id -u)" -ne 0 ]; then
		sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; } || die "tests of voice need $packages: run 'sudo testenv/voice.sh'"
		as_root=(sudo)
	fi
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	apt_quiet() {
		"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1
	}
	say "installing $packages"
	# A machine image's lists may name versions that the mirror has dropped.
	# shellcheck disable=SC2086 # words
	apt_quiet install --no-install-recommends $packages || {
		apt_quiet update || die "apt-get update failed: $(tail -n 5 "$log")"
		apt_quiet install --no-install-recommends $packages || die "installing $packages failed: $(tail -n 5 "$log")"
	}
	packages=$(missing)
	[ -z "$packages" ] || die "installed, but there is no program of ${packages//$'\n'/ }"
fi
asr/setup.sh
