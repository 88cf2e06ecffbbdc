# shellcheck shell=bash
# Sourced by ./run and ./test: which packages are missing, and how they get onto this machine.
# Everything said here goes to stderr; nothing asks unless a person sits at a terminal (and then only sudo does).

# The packages of the given list files that this machine's architecture needs, one a line.
listed_packages() {
  local architecture
  architecture=$(dpkg --print-architecture)
  # "name" or "name [arch]"; '#' starts a comment.
  sed -e 's/#.*//' -- "$@" | awk -v arch="[$architecture]" 'NF == 1 || $2 == arch { print $1 }' | sort -u
}

# Those of the packages named on stdin that are not installed, one a line.
missing_packages() {
  local -A installed=()
  local name state
  while read -r state name; do
    [[ $state == ii ]] && installed[${name%%:*}]=yes
  done < <(dpkg-query -W -f '${db:Status-Abbrev} ${binary:Package}\n' 2>/dev/null)
  while read -r name; do
    [[ -n ${installed[$name]:-} ]] || printf '%s\n' "$name"
  done
}

# How to become root: prints nothing (root already), "sudo" or "sudo -n"; fails when there is no way.
privilege_prefix() {
  if ((EUID == 0)); then return 0; fi
  command -v sudo >/dev/null || return 1
  if sudo -n true 2>/dev/null; then
    echo "sudo -n"
  elif [[ -t 0 && -t 2 && -z ${CI:-} ]]; then
    echo "sudo"
  else
    return 1
  fi
}

# install_missing CALLER LIST-FILE…: returns 0 when everything listed is installed, 2 when it cannot be.
install_missing() {
  local caller=$1
  shift
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "$caller: no apt on this machine, so nothing is installed; what the build needs is listed in $*" >&2
    return 0
  fi
  local -a missing=() become=()
  mapfile -t missing < <(listed_packages "$@" | missing_packages)
  ((${#missing[@]})) || return 0

  local prefix
  if ! prefix=$(privilege_prefix); then
    {
      echo "$caller: ${#missing[@]} packages are missing and there is no way to become root without asking; install them with"
      echo "apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    } >&2
    return 2
  fi
  read -ra become <<<"$prefix"
  local -a apt=("${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)

  echo "$caller: installing ${#missing[@]} missing packages: ${missing[*]}" >&2
  "${apt[@]}" update </dev/null >&2 || echo "$caller: apt-get update failed; going on with the package lists there are" >&2
  if ! "${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >&2; then
    {
      echo "$caller: apt-get could not install what is missing (its message stands above); once that is solved, this does the same:"
      echo "apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    } >&2
    return 2
  fi
}
