# What scripts/check_package and scripts/check_arm64 share: steps with logs in $out, and a Debian 12 in $root, which debootstrap makes. Both are set by the
# script that reads this file, and fail.

# step TITLE COMMAND...: its output goes into a log, of which the end is shown when it fails
number=0
step() {
  local title=$1 log started=$SECONDS
  shift
  number=$((number + 1))
  log=$out/$number.log
  if "$@" > "$log" 2>&1; then
    printf '%-70s passed %5d s\n' "$title" $((SECONDS - started))
  else
    printf '%-70s FAILED, see %s\n' "$title" "$log"
    tail -n 20 "$log"
    exit 1
  fi
}

# needs TOOL...: as root, with these programs
needs() {
  [ "$(id -u)" -eq 0 ] || fail "debootstrap and chroot need root"
  local tool
  for tool in "$@"; do
    command -v "$tool" > /dev/null || fail "$tool is missing: apt-get install --no-install-recommends debootstrap dpkg-dev util-linux qemu-user-static"
  done
}

# A Debian 12 in $root, from the mirror that apt has; one that is there is used again.
debian_root() {
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' | sed -n 's/ bookworm$//p' | head -n 1)
  [ -x "$root/usr/bin/apt-get" ] || debootstrap --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}"
  chroot "$root" apt-get -q -o Acquire::Retries=3 update
}

# inside COMMAND...: in $root; the mounts end with the command
inside() {
  unshare --mount --pid --fork sh -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && shift && exec "$@"' sh "$root" \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
}
