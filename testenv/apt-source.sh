#!/usr/bin/env bash
# Gets a source package of a newer release of this machine's distribution (Debian, Ubuntu) into a directory, fetched
# and verified by apt from the mirror that this machine already uses. Other arguments go to apt-get source.
#
#   testenv/apt-source.sh <package> <directory> [--download-only ...]
set -euo pipefail

die() { echo "testenv/apt-source.sh: $*" >&2; exit 1; }

package=$1 dir=$2
shift 2
# shellcheck source=/dev/null
id=$(. /etc/os-release && echo "$ID")
case $id in
debian) suite=trixie component=main ;;
ubuntu) suite=noble component=universe ;;
*) die "knows no source packages of $id" ;;
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

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work" # apt downloads as its own user
mkdir -p "$work/lists" "$work/cache/archives/partial"
echo "deb-src $key $mirror $suite $component" >"$work/sources.list"
apt=(apt-get -qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
	-o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=)
"${apt[@]}" update >"$work/log" 2>&1 || die "cannot read $suite's package lists: $(tail -n 3 "$work/log")"
(cd "$dir" && "${apt[@]}" source "$@" "$package" >"$work/log" 2>&1) ||
	die "cannot get the source package of $package: $(tail -n 3 "$work/log")"
