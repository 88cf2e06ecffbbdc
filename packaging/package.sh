# shellcheck shell=bash
# Sourced by ./run: makes the single file and the .deb of one architecture in build/package.
# The script that sources this sets `repository`, and has sourced prerequisites.sh and build.sh.
: "${repository:?}"

# The time that goes into the archive: of the last commit, or of the newest source where there is no git.
source_time() {
  git -C "$repository" log -1 --format=%ct 2>/dev/null ||
    find "$repository/src" "$repository/knowledge" -type f -printf '%Ts\n' | sort -n | tail -n 1
}

# package_preset ARCHITECTURE: the preset that builds for it here; nothing where none does.
package_preset() {
  local here
  here=$(dpkg --print-architecture)
  if [[ $1 == "$here" ]]; then echo release; elif [[ $1 == arm64 && $here == amd64 ]]; then echo aarch64; fi
}

# make_package ARCHITECTURE: 0 made, 2 cannot be made here, 3 the build failed.
make_package() {
  local architecture=$1 preset folder=$repository/build/package version
  preset=$(package_preset "$architecture")
  if [[ -z $preset ]]; then
    echo "run: a package for $architecture cannot be made on this machine; run it on one, or on amd64 for arm64" >&2
    return 2
  fi
  if [[ $preset == aarch64 ]]; then "$repository/packaging/arm64-sysroot" "$repository/build/sysroot-arm64" || return 2; fi
  local directory=$repository/build/$preset
  configured_here "$directory" || configure "$preset" -DSPARKOPS_TESTS=OFF || return 3
  build "$preset" sparkops documentation || return 3
  mkdir -p -- "$folder"
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(source_time)}
  export SOURCE_DATE_EPOCH
  rm -rf -- "$directory/package"
  (cd -- "$directory" && umask 022 && cpack -G DEB) </dev/null >&2 || return 3
  version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$directory/CMakeCache.txt")
  local package=sparkops_${version}_$architecture.deb single=sparkops-$version-linux-$architecture
  mv -f -- "$directory/package/$package" "$folder/$package"
  # The single file is the one inside, so that both are the same program.
  dpkg-deb --fsys-tarfile "$folder/$package" | tar -xO ./usr/bin/sparkops >"$folder/$single.new"
  chmod 0755 -- "$folder/$single.new" && mv -f -- "$folder/$single.new" "$folder/$single"
  lintian --allow-root --fail-on error,warning "$folder/$package" >&2 || { echo "run: lintian objects to $folder/$package" >&2; return 3; }
  echo "$folder/$single"
  echo "$folder/$package"
}

package_program() {
  local architecture=
  while (($#)); do
    case $1 in
      --arch) [[ $# -ge 2 ]] || { echo "run: --arch needs amd64 or arm64" >&2; exit 2; }
        architecture=$2; shift ;;
      --arch=*) architecture=${1#--arch=} ;;
      -h | --help)
        echo "usage: ./run package [--arch amd64|arm64]   (default: this machine's; makes build/package/sparkops-…, .deb)"
        exit 0 ;;
      *) echo "run: package does not know '$1'; usage: ./run package [--arch amd64|arm64]" >&2; exit 2 ;;
    esac
    shift
  done
  install_missing run "$repository/packaging/build-packages.txt" "$repository/packaging/package-packages.txt" || exit 2
  [[ -n $architecture ]] || architecture=$(dpkg --print-architecture)
  [[ $architecture == amd64 || $architecture == arm64 ]] || { echo "run: no packages for '$architecture'; there are amd64 and arm64" >&2; exit 2; }
  lock_build run
  make_package "$architecture"
}
