#!/usr/bin/env bash
# Makes what the image holds: the binary, the certificates of this machine, a user and /tmp.
#
#   deploy/docker/rootfs.sh <binary> <folder>
#
# Time zones are in the binary (-tags timetzdata).
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: $0 <binary> <folder>" >&2; exit 2; }
certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
[ -s "$certificates" ] || { echo "$0: no certificates in $certificates: install ca-certificates, or set SSL_CERT_FILE" >&2; exit 1; }

mkdir -p "$2"
install -m 755 "$1" "$2/helixd"
install -D -m 644 "$certificates" "$2/etc/ssl/certs/ca-certificates.crt"
echo 'helixd:x:65532:65532::/:/helixd' >"$2/etc/passwd"
echo 'helixd:x:65532:' >"$2/etc/group"
install -d -m 1777 "$2/tmp"
