#!/bin/sh
# Installs the Debian packages that the project needs (tools/packages.txt).
# Does nothing, quickly, when all are there. `tools/setup.sh --list` prints their names only.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
packages=$(sed -e 's/[[:space:]]*#.*//' -e '/^$/d' "$here/packages.txt")
if [ "${1:-}" = --list ]; then
  echo "$packages"
  exit 0
fi

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "setup: this is no Debian system (dpkg-query is missing); install what tools/packages.txt lists, then run cmake directly (see README.md)" >&2
  exit 1
fi

# A package counts as installed only in the state "install ok installed".
installed=$(dpkg-query --show --showformat='${db:Status-Abbrev}${Package}\n' | sed -n 's/^ii //p')
missing=$(printf '%s\n' "$packages" | while read -r package; do
  printf '%s\n' "$installed" | grep -qxF "$package" || echo "$package"
done)
[ -n "$missing" ] || exit 0

count=$(printf '%s\n' "$missing" | wc -l)
as_root=
if [ "$(id -u)" != 0 ]; then
  if command -v sudo >/dev/null 2>&1; then
    as_root=sudo
  else
    echo "setup: $count packages are missing and can be installed by root only; run as root or install sudo: apt-get install --no-install-recommends" $missing >&2
    exit 1
  fi
fi

release=$(. /etc/os-release 2>/dev/null && echo "${ID:-unknown} ${VERSION_ID:-unknown}")
[ "$release" = "debian 12" ] || echo "setup: made for Debian 12, this is $release; going on" >&2
echo "setup: installing $count packages (one or two minutes at the first time):" $missing

# The S3 test server is started by the tests, on loopback, with its own folder. The packages would
# also start system services: a policy refuses that while they are being installed, and the units
# are disabled afterwards, so that a reboot does not start them either.
policy=/usr/sbin/policy-rc.d
made_policy=no
finish() {
  [ "$made_policy" = no ] || $as_root rm -f "$policy"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
if [ ! -e "$policy" ]; then
  made_policy=yes
  printf '#!/bin/sh\nexit 101\n' | $as_root sh -c "cat > $policy && chmod 755 $policy"
fi

apt() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@"
}
log=$(mktemp)
if ! { apt update && apt install --yes --no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
  tail -n 20 "$log" >&2
  echo "setup: apt-get failed (the whole log: $log); see the lines above; is a package mirror reachable?" >&2
  exit 1
fi
rm -f "$log"

if printf '%s\n' "$missing" | grep -qE '^(ceph-|radosgw)'; then
  for unit in ceph.target ceph-mon.target ceph-osd.target ceph-radosgw.target ceph-mon.service ceph-crash.service rbdmap.service; do
    $as_root deb-systemd-helper disable "$unit" >/dev/null 2>&1 || true # some units are not there
  done
  for script in radosgw rbdmap; do
    $as_root update-rc.d "$script" disable >/dev/null 2>&1 || true
  done
fi
echo "setup: done"
