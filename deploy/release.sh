#!/usr/bin/env bash
# Builds releases: a static binary for each system in a tar.gz with its licences, an SBOM (CycloneDX) of each, and
# SHA256SUMS over all. Archives have the commit's time, so that the same commit, version and Go may give the same bytes.
#
#   deploy/release.sh <version> [<folder>]
#
# The version is a tag's, such as v1.2.3; the folder is dist. Sign SHA256SUMS with what you sign with.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: $0 <version> [<folder>]" >&2; exit 2; }
version=$1
out=$(realpath -m -- "${2:-dist}")
cd "$(dirname "$0")/.."
go=${GO:-go}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || { echo "$0: $version is no version, such as v1.2.3" >&2; exit 2; }

reactors/skills/javascript/fetch.sh
reactors/voice/decode/build.sh
# Times in archives are the commit's; a checkout with changes has none.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
rm -f "$out"/helixd-* "$out/SHA256SUMS"

for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do
	name=helixd-$version-${target/\//-}
	echo "$name" >&2
	mkdir "$work/$name"
	GOOS=${target%/*} GOARCH=${target#*/} CGO_ENABLED=0 GOFLAGS='' "$go" build -trimpath -tags timetzdata \
		-ldflags "-s -w -buildid= -X main.release=$version" -o "$work/$name/helixd" ./cmd/helixd
	cp README.md docs/licences.md docs/LGPL-2.1.txt deploy/systemd/helixd.service deploy/compose.yaml "$work/$name/"
	(cd deploy/sbom && "$go" run . "$work/$name/helixd" "$version") >"$out/$name.cdx.json"
	tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w -C "$work" -cf - "$name" |
		gzip -9n >"$out/$name.tar.gz"
done
(cd "$out" && sha256sum -- helixd-* >SHA256SUMS)
echo "in $out:" >&2
(cd "$out" && ls -l) >&2
