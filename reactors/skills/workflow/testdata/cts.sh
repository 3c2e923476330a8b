#!/usr/bin/env bash
# Gets the JSONPath compliance suite (jsonpath-standard, BSD-2) into testdata/cts.json, from an npm package that
# carries it. Idempotent; silent when there is nothing to do.
set -euo pipefail
cd "$(dirname "$0")"

package=jsonpath-rfc9535@1.3.0
inside=package/src/__tests__/jsonpath-compliance-test-suite/cts.json
sum=a92e423ed064a7ed6af46f7df82125ce53dc4876fa3fb2bab0228aba1aa3af7c

matches() { echo "$sum  $1" | sha256sum --check --status 2>/dev/null; }

[ -f cts.json ] && matches cts.json && exit 0
work=$(mktemp -d -p .)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent "$package" >/dev/null) || { echo "npm cannot get $package" >&2; exit 1; }
tar -xzf "$work"/*.tgz -C "$work" "$inside"
matches "$work/$inside" || { echo "$package: $inside is not what it was (sha256)" >&2; exit 1; }
mv "$work/$inside" cts.json
