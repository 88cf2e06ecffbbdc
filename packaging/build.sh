# shellcheck shell=bash
# Sourced by ./run and ./test: configure and build one preset of this tree. Everything is said on stderr.
# The script that sources this sets `repository` to the root of the tree, an absolute path.
: "${repository:?}"

# One build at a time in one tree: the lock is held until `unlock_build` or the end of the script.
lock_build() {
  mkdir -p -- "$repository/build"
  exec {build_lock}>"$repository/build/.lock"
  flock -n "$build_lock" && return
  echo "$1: waiting for another build in $repository" >&2
  flock "$build_lock"
}

unlock_build() {
  exec {build_lock}>&-
}

# configured_here DIRECTORY: true when a build directory was generated for this tree where it lies now.
configured_here() {
  [[ -f $1/build.ninja && -f $1/CMakeCache.txt ]] && grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$repository" "$1/CMakeCache.txt"
}

# configure PRESET [CMAKE-OPTION…]: generates build/PRESET; a directory that was copied or moved here starts afresh.
configure() {
  local preset=$1 directory=$repository/build/$1
  shift
  local -a fresh=()
  if [[ -e $directory/CMakeCache.txt ]] && ! configured_here "$directory"; then fresh=(--fresh); fi
  # stdin is not the build's to read.
  (cd -- "$repository" && cmake "${fresh[@]}" --preset "$preset" --log-level=NOTICE "$@") </dev/null >&2
}

# build PRESET [TARGET…]: the compiler's paths are made relative, so that ccache serves every checkout of one source.
build() {
  local directory=$repository/build/$1
  shift
  (cd -- "$repository" && CCACHE_BASEDIR=${CCACHE_BASEDIR:-$repository} CCACHE_NOHASHDIR=1 NINJA_STATUS='[%f/%t] ' \
    ninja -C "$directory" -j "$(nproc)" "$@") </dev/null >&2
}

# build_release [TARGET…]: build/release, and when that worked the stamp ./run compares the sources with. A source saved
# while the compiler runs must count as newer, so the stamp's time is the beginning's; its text is where the tree lay.
build_release() {
  local began
  began=$(mktemp -- "$repository/build/.began-XXXXXX") || return
  printf '%s\n' "$repository" >"$began"
  if ! build release "$@"; then
    rm -f -- "$began"
    return 1
  fi
  mv -f -- "$began" "$repository/build/release/.run-stamp"
}
