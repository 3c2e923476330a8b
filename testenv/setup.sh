#!/usr/bin/env bash
# Makes sure that this machine can run the tests: Postgres server binaries with pgvector, a C compiler for
# `go test -race`, the JavaScript engine and the audio decoder. Idempotent; silent and quick when there is nothing to do.
#
#   HELIX_TESTENV=docker         use a container engine instead of local binaries
#   HELIX_TESTENV_BINDIR=<dir>   look for the server binaries there first
#
# It leaves no database cluster behind: package testenv makes its own, throws them away, and never needs the
# system's service.
set -euo pipefail

say() { echo "testenv/setup.sh: $*" >&2; }
die() { say "$*"; exit 1; }

# postgres_with_pgvector prints the directory of server binaries that have pgvector, and fails when there is none.
# The Go side looks in the same places (see binaries.go).
postgres_with_pgvector() {
	local bin share
	for bin in "${HELIX_TESTENV_BINDIR:-}" /usr/lib/postgresql/*/bin /usr/pgsql-*/bin \
		/opt/homebrew/opt/postgresql@*/bin /usr/local/opt/postgresql@*/bin \
		"$(pg_config --bindir 2>/dev/null || true)" "$(dirname "$(command -v postgres || echo /nowhere/postgres)")"; do
		if [ -z "$bin" ] || [ ! -x "$bin/postgres" ] || [ ! -x "$bin/initdb" ]; then
			continue
		fi
		share=$("$bin/pg_config" --sharedir 2>/dev/null || true)
		if [ -f "$share/extension/vector.control" ]; then
			echo "$bin"
			return 0
		fi
	done
	return 1
}

engine_answers() { command -v docker >/dev/null && timeout 10 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }
have_compiler() { command -v gcc >/dev/null || command -v clang >/dev/null; }

# --- the JavaScript engine, which the build embeds ----------------------------------------------------------------
fetch_engine="$(dirname "$0")/../reactors/skills/javascript/fetch.sh"
if ! "$fetch_engine" 2>/dev/null; then
	command -v npm >/dev/null || "$(dirname "$0")/supabasejs/setup.sh" >/dev/null || true
	"$fetch_engine" || die "no JavaScript engine: JavaScript tools and their tests will not work"
fi

# --- the audio decoder, which the build embeds ----------------------------------------------------------------------
"$(dirname "$0")/../reactors/voice/decode/build.sh" ||
	say "no audio decoder: recordings go to the provider as they are, and the tests of voice will not work"

# --- nothing to do? ---------------------------------------------------------------------------------------------
if [ "${HELIX_TESTENV:-}" = docker ]; then
	engine_answers || die "HELIX_TESTENV=docker, but no container engine answers: start Docker (see 'docker version'), or unset HELIX_TESTENV"
	exit 0
fi
if postgres_with_pgvector >/dev/null && have_compiler; then
	exit 0
fi

# --- without apt ------------------------------------------------------------------------------------------------
if ! command -v apt-get >/dev/null; then
	if ! have_compiler; then
		say "no C compiler: 'go test' works, 'go test -race' needs gcc or clang"
	fi
	if postgres_with_pgvector >/dev/null; then
		exit 0
	elif engine_answers; then
		say "no local Postgres with pgvector; the tests will use the container engine"
		exit 0
	fi
	die "needs Postgres 15 or newer with pgvector, or a container engine. Install one, for example
  macOS:   brew install postgresql@17 pgvector
  Fedora:  dnf install postgresql-server postgresql-contrib pgvector
  other:   set HELIX_TESTENV_BINDIR to the folder of initdb and postgres, or start Docker"
fi

# --- with apt ---------------------------------------------------------------------------------------------------
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	if ! sudo -n true 2>/dev/null && ! { [ -t 0 ] && sudo -v; }; then
		if postgres_with_pgvector >/dev/null; then
			say "no C compiler, and no right to install one: 'go test -race' will not work"
			exit 0
		elif engine_answers; then
			say "no local Postgres with pgvector, and no right to install it; the tests will use the container engine"
			exit 0
		fi
		die "needs Postgres with pgvector: run 'sudo testenv/setup.sh', or start Docker"
	fi
	as_root=(sudo)
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work" # apt downloads as its own user
log=$work/log

# apt_quiet runs apt-get and keeps what it says for the case that it fails.
apt_quiet() {
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1
}

updated=false
update_once() {
	$updated && return
	say "reading the package lists"
	apt_quiet update || die "apt-get update failed: $(tail -n 5 "$log")"
	updated=true
}

candidate() { apt-cache policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" {print $2}'; }

# newest_packaged prints the newest N for which both postgresql-N and postgresql-N-pgvector can be installed.
newest_packaged() {
	local major
	for major in $(apt-cache pkgnames postgresql- | sed -n 's/^postgresql-\([0-9]\+\)-pgvector$/\1/p' | sort -rn); do
		if [ -n "$(candidate "postgresql-$major")" ] && [ -n "$(candidate "postgresql-$major-pgvector")" ]; then
			echo "$major"
			return
		fi
	done
}

# install_packages retries once with fresh lists: a machine image's lists may name versions the mirror has dropped.
install_packages() {
	say "installing $*"
	apt_quiet install --no-install-recommends "$@" && return
	update_once
	apt_quiet install --no-install-recommends "$@" || die "installing $* failed: $(tail -n 5 "$log")"
}

# no_default_cluster keeps Debian's packages from making and starting a cluster of their own.
no_default_cluster() {
	local conf=/etc/postgresql-common/createcluster.conf
	[ -e "$conf" ] && return
	"${as_root[@]}" mkdir -p "${conf%/*}"
	echo "create_main_cluster = false" | "${as_root[@]}" tee "$conf" >/dev/null
}

# build_pgvector compiles pgvector for server $1 from the source package of a newer release of the same
# distribution.
build_pgvector() {
	local major=$1
	say "building pgvector for Postgres $major from the source package of a newer release"
	mkdir -p "$work/src"
	"$(dirname "$0")/apt-source.sh" pgvector "$work/src" 2>"$log" ||
		die "no pgvector: $(tail -n 3 "$log"); install pgvector for postgresql-$major by hand, or start Docker"
	# OPTFLAGS is -march=native by default, which breaks images that are built on one machine and run on another.
	(cd "$work"/src/pgvector-*/ &&
		make OPTFLAGS="" PG_CONFIG="/usr/lib/postgresql/$major/bin/pg_config" >"$log" 2>&1 &&
		"${as_root[@]}" make install OPTFLAGS="" PG_CONFIG="/usr/lib/postgresql/$major/bin/pg_config" >>"$log" 2>&1) ||
		die "building pgvector failed: $(tail -n 5 "$log")"
}

if ! have_compiler; then
	apt-cache show gcc >/dev/null 2>&1 || update_once
	install_packages gcc libc6-dev
fi
if ! postgres_with_pgvector >/dev/null; then
	[ -n "$(candidate postgresql)" ] || update_once
	major=$(newest_packaged)
	if [ -n "$major" ]; then
		no_default_cluster
		install_packages "postgresql-$major" "postgresql-$major-pgvector"
	else
		# The server that is there already, else the distribution's own.
		major=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | sed -n 's|^/usr/lib/postgresql/\([0-9]\+\)/.*|\1|p' | sort -rn | head -n 1)
		if [ -z "$major" ]; then
			major=$(apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]\+\)$/\1/p' | head -n 1)
			[ -n "$major" ] || die "this distribution has no postgresql package: start Docker, or set HELIX_TESTENV_BINDIR"
			no_default_cluster
		fi
		install_packages "postgresql-$major" "postgresql-server-dev-$major" build-essential
		build_pgvector "$major"
	fi
fi
bin=$(postgres_with_pgvector) || die "installed, but no Postgres with pgvector was found: please report this with the output of 'ls /usr/lib/postgresql/*/bin'"
say "ready: $("$bin/postgres" --version), pgvector $(sed -n "s/^default_version *= *'\(.*\)'/\1/p" "$("$bin/pg_config" --sharedir)/extension/vector.control")"
