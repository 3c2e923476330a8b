#!/usr/bin/env bash
# Builds the audio decoder, FFmpeg's libraries as one WebAssembly module, into assets/, where the build of helixd embeds
# it. Idempotent; silent and quick when it is there; a minute when it is not. Both the source and the result are known by
# their sha256: the same source and compilers make the same bytes wherever they are built.
#
#   build.sh                          assets/adec.wasm, of FFmpeg 7.1.5 as Debian has it
#   build.sh <file>                   a module of your own for HELIX_VOICE_DECODER, whatever its source
#
#   FFMPEG_SOURCE=<ffmpeg-*.tar.xz>   the source; without it the one kept in .helix/, else Debian's source package, by apt
set -euo pipefail
own=${1:+$(realpath -m -- "$1")}
source=${FFMPEG_SOURCE:+$(realpath -- "$FFMPEG_SOURCE")}
cd "$(dirname "$0")"

version=7.1.5
tarball=ffmpeg_$version.orig.tar.xz
source_sum=de668509caf9e35e3cd162473441fdb29538c6d96ed080292b3cf9e6fc5d558f
sum=5e90dee7d659e2d4c0de1a4c24ce4838f8343424b504e3c5f17907c197069012
packages=(clang lld llvm wasi-libc libclang-rt-14-dev-wasm32 binaryen make patch xz-utils)
keep=$(realpath -m ../../../.helix)

say() { echo "reactors/voice/decode/build.sh: $*" >&2; }
die() { say "$*"; exit 1; }
is() { [ -f "$2" ] && echo "$1  $2" | sha256sum --check --status; }

[ -z "$own" ] && is $sum assets/adec.wasm && exit 0

# --- compilers ------------------------------------------------------------------------------------------------------
have_compilers() {
	local tool
	for tool in clang wasm-ld llvm-ar llvm-nm llvm-ranlib wasm-opt make patch xz; do
		command -v $tool >/dev/null || return 1
	done
	echo 'int main(void) { return 0; }' | clang --target=wasm32-wasi -x c -o /dev/null - 2>/dev/null
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log

if ! have_compilers; then
	if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
		die "needs compilers for WebAssembly; on Debian 12 as root: apt-get install ${packages[*]}"
	fi
	say "installing ${packages[*]}"
	DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 install --no-install-recommends "${packages[@]}" >"$log" 2>&1 ||
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 install --no-install-recommends "${packages[@]}"; } >"$log" 2>&1 ||
		die "installing ${packages[*]} failed: $(tail -n 5 "$log")"
	have_compilers || die "the packages are installed, and clang makes no program for wasm32-wasi: this was written for clang 14 of Debian 12"
fi

# --- source ---------------------------------------------------------------------------------------------------------
if [ -z "$source" ]; then
	source=$keep/$tarball
	if ! is $source_sum "$source"; then
		say "getting the source of FFmpeg $version"
		mkdir "$work/source"
		../../../testenv/apt-source.sh ffmpeg "$work/source" --download-only ||
			die "no source: let FFMPEG_SOURCE name $tarball of Debian, or ffmpeg-$version.tar.xz of ffmpeg.org"
		is $source_sum "$work/source/$tarball" ||
			die "apt has another version of FFmpeg than $version ($(cd "$work/source" && echo *.orig.tar.*)): let FFMPEG_SOURCE name $tarball"
		mkdir -p "$keep"
		install -m 644 "$work/source/$tarball" "$source.new"
		mv "$source.new" "$source"
	fi
elif [ -z "$own" ]; then
	is $source_sum "$source" || die "$source is not the source of FFmpeg $version that was expected (sha256 $source_sum)"
fi

# --- FFmpeg's libraries ---------------------------------------------------------------------------------------------
say "building the audio decoder (a minute)"
mkdir "$work/ffmpeg"
tar -xf "$source" -C "$work/ffmpeg" --strip-components 1
cp engine/* "$work/ffmpeg"
cd "$work/ffmpeg" # in the source's own directory no path of this machine gets into the module
patch -p1 <resample.patch >"$log" 2>&1 || die "resample.patch does not apply to this FFmpeg: $(tail -n 3 "$log")"

target=(--target=wasm32-wasi -O3 -g0 -ftls-model=local-exec -msimd128 -mbulk-memory -mnontrapping-fptoint -msign-ext -mmutable-globals)
emulated=(-lwasi-emulated-process-clocks -lwasi-emulated-signal -lwasi-emulated-mman)
defines=(-D_WASI_EMULATED_PROCESS_CLOCKS -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_MMAN -DNDEBUG -include missing.h)
pcm=s8,u8,s16le,s16be,s24le,s24be,s32le,s32be,f32le,f32be,f64le,mulaw,alaw
./configure \
	--cc=clang --ld=clang --ar=llvm-ar --nm=llvm-nm --ranlib=llvm-ranlib --strip=true \
	--enable-cross-compile --target-os=none --arch=wasm32 \
	--extra-cflags="${target[*]} ${defines[*]}" --extra-ldflags="--target=wasm32-wasi ${emulated[*]}" --optflags=-O3 \
	--enable-static --disable-shared --disable-everything --disable-autodetect --disable-programs --disable-doc \
	--disable-debug --disable-stripping --disable-asm --disable-runtime-cpudetect --disable-network --disable-iconv \
	--disable-pthreads --disable-w32threads --disable-os2threads --disable-avdevice --disable-swscale --disable-postproc \
	--enable-demuxer=matroska,ogg,mov,mp3,wav,w64,flac,aac,caf,aiff,amr \
	--enable-decoder=opus,vorbis,aac,aac_latm,mp3float,flac,alac,amrnb,amrwb,gsm_ms,adpcm_ima_wav,adpcm_ms,adpcm_ima_qt \
	--enable-decoder="pcm_${pcm//,/,pcm_}" \
	--enable-parser=opus,vorbis,aac,aac_latm,mpegaudio,flac,amr \
	--enable-bsf=aac_adtstoasc \
	--enable-filter=aresample,aformat,anull,abuffer,abuffersink,highpass,afftdn \
	>"$log" 2>&1 || die "configuring FFmpeg failed: $(tail -n 5 "$log" ffbuild/config.log 2>/dev/null)"
grep -q '^License: LGPL version 2.1 or later$' "$log" || die "the licence of this build of FFmpeg is not LGPL 2.1 or later: $(grep '^License' "$log")"
libraries=(avfilter avformat avcodec swresample avutil)
archives=()
for library in "${libraries[@]}"; do archives+=("lib$library/lib$library.a"); done
# The resampler takes half of the time. Its sums may be made in any order, so in vectors.
{ make -j"$(nproc)" libswresample/libswresample.a ECFLAGS="-fassociative-math -fno-signed-zeros -fno-trapping-math" &&
	make -j"$(nproc)" "${archives[@]}"; } >"$log" 2>&1 ||
	die "building FFmpeg failed: $(grep -E 'error|Error' "$log" | head -n 5)"

# --- the module -----------------------------------------------------------------------------------------------------
# The stack comes first, so that its overflow is a trap.
clang "${target[@]}" -Wall -Wextra -Werror -Wno-unused-parameter -mexec-model=reactor -I. -o linked.wasm adec.c absent.c \
	"${libraries[@]/#/-Llib}" "${libraries[@]/#/-l}" "${emulated[@]}" -lm \
	-Wl,--gc-sections -Wl,--stack-first -Wl,-z,stack-size=1048576 >"$log" 2>&1 || die "linking the decoder failed: $(tail -n 5 "$log")"
wasm-opt -O3 --enable-simd --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals \
	--strip-debug --strip-producers linked.wasm -o adec.wasm >"$log" 2>&1 || die "optimizing the decoder failed: $(tail -n 5 "$log")"

cd "$OLDPWD"
built=$work/ffmpeg/adec.wasm
to=${own:-$PWD/assets/adec.wasm}
if [ -z "$own" ] && ! is $sum "$built"; then
	to=$keep/adec.wasm
	mkdir -p "$keep"
	install -m 644 "$built" "$to"
	die "these compilers ($(clang --version | head -n 1), $(wasm-opt --version)) make another module than the one that was tested (Debian 12's make sha256 $sum): helixd does not embed it, but runs it with HELIX_VOICE_DECODER=$to"
fi
# In one step, so that a build at the same time sees the whole file or none.
install -m 644 "$built" "$to.new"
mv "$to.new" "$to"
