#!/usr/bin/env bash
# Builds wordcount.wasm, byte for byte, with clang and lld 14 (Debian 12: clang-14 lld-14), as the example's own build.sh
# does, and says whether it is the file that is committed.
set -euo pipefail
cd "$(dirname "$0")"
sum=d3b69ca08e273078428075e051b216d6b69a29f87af7acb5261b729b901b6a37
clang=$(command -v clang-14 || command -v clang)
"$clang" --target=wasm32 -std=c11 -Os -Wall -Wextra -Werror -ffreestanding -nostdlib \
	-Wl,--no-entry -Wl,--strip-all -Wl,-z,stack-size=16384 -o wordcount.wasm wordcount.c
echo "$sum  wordcount.wasm" | sha256sum --check
