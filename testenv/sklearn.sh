#!/usr/bin/env bash
# Makes a Python with scikit-learn 1.4 (with HDBSCAN, since 1.3) and OpenBLAS, for make bench and for the golden labels of
# reactors/synthesis/cluster, and prints its path. They are packages of a newer release of this machine's distribution
# (Debian, Ubuntu), fetched and verified by apt from the mirror that this machine already uses, and unpacked under
# .helix: nothing is installed, and it needs no root. Idempotent, and quick when there is nothing to do.
set -euo pipefail
cd "$(dirname "$0")"

say() { echo "testenv/sklearn.sh: $*" >&2; }
die() { say "$*"; exit 1; }

# Each content of this file has a folder of its own.
cache=${PWD%/*}/.helix/sklearn
dir=$cache/$(sha256sum <sklearn.sh | cut -c 1-16)
if [ -d "$dir" ]; then
	echo "$dir/python3"
	exit 0
fi

# shellcheck source=/dev/null
id=$(. /etc/os-release && echo "$ID")
case $id in
debian) suite=trixie component=main ;;
ubuntu) suite=noble component="main universe" ;;
*) die "knows no packages of $id" ;;
esac
command -v apt-get >/dev/null || die "there is no apt-get"
# indextargets also lists third-party sources: the distribution's own have its name as Origin and as Label.
own=("Created-By: Packages" "Origin: ${id^}" "Label: ${id^}")
# shellcheck disable=SC2016 # $(...) is apt's own syntax
mirror=$(apt-get indextargets --format '$(REPO_URI)' "${own[@]}" | head -n 1)
[ -n "$mirror" ] || die "apt knows no ${id^} mirror: run 'apt-get update' and look at its errors"
# shellcheck disable=SC2016
key=$(apt-get indextargets --format '$(SIGNED_BY)' "${own[@]}" | head -n 1)
case $key in /*) key="[signed-by=$key]" ;; *) key="" ;; esac

mkdir -p "$cache"
# Made under another name: one that was left half-done is never taken for it.
work=$(mktemp -d "$cache/unfinished-XXXXXX")
trap 'rm -rf "$work"' EXIT
say "getting scikit-learn of $suite (60 MB)"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
echo "deb $key $mirror $suite $component" >"$work/sources.list"
: >"$work/status" # as if nothing were installed: all that it needs is fetched
apt=(apt-get -qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
	-o "Dir::State::Lists=$work/lists" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache"
	-o APT::Sandbox::User= -o APT::Install-Recommends=false)
"${apt[@]}" update >"$work/log" 2>&1 || die "cannot read $suite's package lists: $(tail -n 3 "$work/log")"
"${apt[@]}" install --yes --download-only python3-sklearn libopenblas0-pthread >"$work/log" 2>&1 ||
	die "cannot get python3-sklearn: $(tail -n 3 "$work/log")"
for package in "$work"/cache/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$package" | tar -x -C "$work/root" --keep-directory-symlink --no-same-owner
done
rm -r "$work/lists" "$work/cache" "$work/root/usr/share/doc"

# It runs with the loader and libraries that it was made for.
cat >"$work/python3" <<'PYTHON'
#!/bin/sh
usr=$(cd "$(dirname "$0")" && pwd)/root/usr
set -- "$(echo "$usr"/bin/python3.[0-9]*)" "$@"
for libraries in "$usr"/lib/*-linux-gnu*; do
	for loader in "$libraries"/ld-linux-*; do
		PYTHONHOME=$usr exec "$loader" --library-path "$libraries/openblas-pthread:$libraries" "$@"
	done
done
PYTHON
chmod 755 "$work" "$work/python3"
"$work/python3" -c 'import sklearn.cluster; sklearn.cluster.HDBSCAN' >"$work/log" 2>&1 || die "it does not run: $(tail -n 3 "$work/log")"
rm "$work/log" "$work/sources.list" "$work/status"
[ -d "$dir" ] || mv "$work" "$dir" # another one may have been quicker
echo "$dir/python3"
