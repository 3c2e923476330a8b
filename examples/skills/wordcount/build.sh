#!/usr/bin/env bash
# Builds wordcount.wasm, byte for byte, with clang and lld 14 (Debian 12: clang-14 lld-14), and says whether it is the
# file that is committed. Another version makes a module that does the same and is not the same.
set -euo pipefail
cd "$(dirname "$0")"
sum=b39f82ab9e9808deefe9bde632787b2e3cfdc1555b998b48c069bc6ab248cdba
clang=$(command -v clang-14 || command -v clang)
"$clang" --target=wasm32 -std=c11 -Os -Wall -Wextra -Werror -ffreestanding -nostdlib \
	-Wl,--no-entry -Wl,--strip-all -Wl,-z,stack-size=16384 -o wordcount.wasm wordcount.c
echo "$sum  wordcount.wasm" | sha256sum --check
