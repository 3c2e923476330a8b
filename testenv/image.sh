#!/usr/bin/env bash
# Builds the container image helix-testenv:17 (Postgres 17 with pgvector on Debian trixie) without any registry: for
# machines that have a container engine and a Debian mirror only. Use it with
#
#   HELIX_TESTENV=docker HELIX_TESTENV_IMAGE=helix-testenv:17 go test ./...
#
# It needs root, mmdebstrap, and a container engine that answers. Environment: HELIX_TESTENV_MIRROR, the Debian mirror
# to take packages from; the default is the one in this machine's own apt configuration. Exit status 3: this machine
# lacks what it needs.
set -euo pipefail

suite=trixie
major=17
image=helix-testenv:$major

die() { echo "testenv/image.sh: $*" >&2; exit 3; }
command -v mmdebstrap >/dev/null || die "needs mmdebstrap: apt-get install mmdebstrap"
docker version >/dev/null 2>&1 || die "no container engine answers: start Docker, or set DOCKER_HOST"

own=("Created-By: Packages" "Origin: Debian" "Label: Debian")
# shellcheck disable=SC2016 # $(...) is apt's own syntax
mirror=${HELIX_TESTENV_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' "${own[@]}" 2>/dev/null | head -n 1)}
[ -n "$mirror" ] || die "apt knows no Debian mirror here: set HELIX_TESTENV_MIRROR"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Like the entrypoint of the usual Postgres images, as far as testenv needs it: makes the cluster on the first start,
# and becomes the postmaster, so that signals to the container reach it.
cat >"$work/entrypoint" <<'ENTRYPOINT'
#!/bin/sh
set -eu
data=/var/lib/postgresql/data
install -d -o postgres -g postgres /run/postgresql
if [ ! -e "$data/PG_VERSION" ]; then
	install -d -o postgres -g postgres -m 700 "$data"
	(umask 077 && printf %s "$POSTGRES_PASSWORD" >/run/password && chown postgres /run/password)
	setpriv --reuid postgres --regid postgres --init-groups initdb --pgdata="$data" --username="${POSTGRES_USER:-postgres}" \
		--pwfile=/run/password --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 --no-sync --no-instructions >/dev/null
	rm /run/password
	echo "host all all all scram-sha-256" >>"$data/pg_hba.conf"
	echo "host replication all all scram-sha-256" >>"$data/pg_hba.conf"
fi
if [ "$1" = postgres ]; then
	shift
	exec setpriv --reuid postgres --regid postgres --init-groups postgres -D "$data" "$@"
fi
exec "$@"
ENTRYPOINT
chmod 755 "$work/entrypoint"

# shellcheck disable=SC2016 # the hooks are mmdebstrap's to expand
# The hooks keep the package from making a cluster of its own, and add the entrypoint.
mmdebstrap --quiet --variant=minbase --include="postgresql-$major,postgresql-$major-pgvector" \
	--aptopt='Acquire::Languages "none"' --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
	--essential-hook='mkdir -p "$1/etc/postgresql-common" && echo "create_main_cluster = false" >"$1/etc/postgresql-common/createcluster.conf"' \
	--customize-hook="copy-in '$work/entrypoint' /usr/local/bin" \
	--customize-hook='chroot "$1" apt-get clean && rm -rf "$1"/var/lib/apt/lists/*' \
	"$suite" - "$mirror" |
	docker import \
		--change "ENV PATH=/usr/lib/postgresql/$major/bin:/usr/local/bin:/usr/bin:/bin" \
		--change 'ENTRYPOINT ["/usr/local/bin/entrypoint"]' \
		--change 'CMD ["postgres"]' \
		--change 'EXPOSE 5432' \
		- "$image" >/dev/null
echo "testenv/image.sh: built $image; use it with HELIX_TESTENV=docker HELIX_TESTENV_IMAGE=$image" >&2
