#!/usr/bin/env bash
# The README's first command, `make demo`, from a clone without ../shared, on a bare machine: a minimal Debian 12 that
# has git and make only. What install-deps brings without a group must do; what a group of it would bring must not be
# needed. The system is made by debootstrap in build-bare/bare (as root), and kept for the next time, with the packages
# that were fetched; the command runs in a copy. Where this is not root, or cannot have such a system, it says so and
# succeeds.
#   usage: check_first_command.sh [COMMIT]
set -euo pipefail
cd "$(dirname "$0")/../.."
commit=$(git rev-parse "${1:-HEAD}")
skip() {
  echo "test-bare: SKIPPED: $*"
  exit 0
}
[ "$(id -u)" -eq 0 ] || skip "only root can make a bare Debian and enter it"
command -v apt-get >/dev/null || skip "this is no Debian, which has debootstrap and a mirror"
tools/install-deps bare || skip "debootstrap cannot be installed"
work=$PWD/build-bare bare=$PWD/build-bare/bare root=$PWD/build-bare/run
mkdir -p "$work"
trap 'for place in "$root" "$bare"; do ! mountpoint -q "$place/proc" || umount "$place/proc"; done' EXIT
tests/install/make_bare_debian "$bare" git make || skip "no bare Debian can be made, see above"
umount "$bare/proc"
rm -rf "$root"
cp -a "$bare" "$root"
mount -t proc proc "$root/proc"
in_it() { chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }
in_it apt-get update -qq || skip "the bare Debian cannot reach its mirror"

git clone --quiet --no-local . "$root/cgmca"
git -C "$root/cgmca" checkout --quiet "$commit"
[ -z "$(git -C "$root/cgmca" status --porcelain)" ]
in_it dpkg-query -W -f '${Package}\n' | sort >"$work/before"
status=0
in_it make -C /cgmca demo >"$work/log" 2>&1 || status=$?
cp "$root"/var/cache/apt/archives/*.deb "$bare/var/cache/apt/archives/" 2>/dev/null || true
if [ "$status" -ne 0 ]; then
  tail -40 "$work/log"
  echo "test-bare: make demo fails on a bare Debian, see $work/log" >&2
  exit 1
fi
for result in out/mnist/report.html build/cgmca; do
  [ -s "$root/cgmca/$result" ] || { echo "test-bare: make demo succeeded and left no $result" >&2; exit 1; }
done
in_it /cgmca/build/cgmca --version | head -1
tail -5 "$work/log"
installed=$(in_it dpkg-query -W -f '${Package}\n' | sort | comm -13 "$work/before" - | wc -l)
umount "$root/proc"
rm -rf "$root"
echo "test-bare: make demo works on a bare Debian 12, which needed $installed packages"
