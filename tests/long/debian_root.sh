# shellcheck shell=bash disable=SC2034
# Sourced by the long tests: a Debian 12 that has nothing yet, by debootstrap into $root, and commands run inside it.
# The script that sources this sets `root`, after sourcing house/files.sh. Needs root. Packages come from where this
# machine's apt gets them; SPARKOPS_DEBIAN_MIRROR names another mirror. SPARKOPS_KEEP_FRESH keeps the root.
# All mounts live in a mount namespace of their own, so none can be left behind.
: "${root:?}" "${repository:?}"
release=bookworm

((EUID == 0)) || skip "making a Debian root needs root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
unshare --mount true 2>/dev/null || skip "this machine does not allow a mount namespace"

# The deb lines of this machine's apt for that release, or the mirror that was named.
package_sources() {
  if [[ -n ${SPARKOPS_DEBIAN_MIRROR:-} ]]; then
    echo "deb $SPARKOPS_DEBIAN_MIRROR $release main"
  else
    apt-get indextargets --format "deb \$(REPO_URI) \$(RELEASE) \$(COMPONENT) \$(IDENTIFIER)" |
      awk -v release="$release" '$5 == "Packages" && $3 ~ "^" release { print $1, $2, $3, $4 }' | sort -u
  fi
}
sources=$(package_sources)
mirror=$(awk -v release="$release" '$3 == release && $4 == "main" { print $2; exit }' <<<"$sources")
[[ -n $mirror ]] || skip "this machine's apt knows no Debian 12; name a mirror in SPARKOPS_DEBIAN_MIRROR"

child=
remove_root() {
  # Nothing may still run in what is taken away; unshare takes its whole process tree with it.
  if [[ -n $child ]] && kill -KILL "$child" 2>/dev/null; then wait "$child" 2>/dev/null || true; sleep 1; fi
  rm -rf --one-file-system -- "$root"
}
remove_root
[[ -n ${SPARKOPS_KEEP_FRESH:-} ]] || trap remove_root EXIT
trap 'exit 143' TERM HUP
trap 'exit 130' INT

echo "debootstrap of Debian 12 into $root"
if ! debootstrap --variant=minbase "$release" "$root" "$mirror" >"$repository/build/debootstrap.log" 2>&1; then
  tail -n 20 "$repository/build/debootstrap.log"
  echo "debootstrap failed; its log is build/debootstrap.log"
  exit 1
fi
echo "$sources" >"$root/etc/apt/sources.list"
# How this machine reaches the mirror: proxies, host names, certificates.
apt-config dump Acquire 2>/dev/null | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/90-as-outside" || true
cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
if grep -q ' https:' <<<"$sources"; then
  mkdir -p "$root/etc/ssl/certs" && cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
fi

# inside COMMAND…: in the root, as its only process tree, with nothing of this environment.
inside() {
  # shellcheck disable=SC2016 # expanded by the inner shell
  unshare --mount --pid --fork --kill-child --propagation private bash -euc '
    root=$1; shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --rbind -o ro /sys "$root/sys"
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 CI=true \
      chroot "$root" "$@"' bash "$root" "$@" </dev/null &
  child=$!
  local code=0
  wait "$child" || code=$?
  child=
  return "$code"
}

failed=0
# expect WHAT CONDITION…: says what holds and what does not.
expect() {
  local what=$1
  shift
  if "$@"; then echo "ok: $what"; else echo "NOT OK: $what"; failed=1; fi
}

has() { grep -qE -- "$1" "$2"; }
lacks() { ! grep -qE -- "$1" "$2"; }
sums_up() { tail -n 1 "$1" | grep -qE '^[1-9][0-9]* passed, 0 failed(, [0-9]+ skipped)?$'; }
