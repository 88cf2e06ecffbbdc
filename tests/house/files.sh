# shellcheck shell=bash
# Sourced by the house checks: the root of the tree, and its files.
repository=$(readlink -f -- "$(dirname -- "${BASH_SOURCE[0]}")/../..")
cd -- "$repository" || exit 1

# tree_files [PATHSPEC…]: the files of the tree (not what is ignored), NUL between them; git's patterns select.
tree_files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    # A file deleted but not yet committed is still in the index.
    git ls-files -z --cached --others --exclude-standard --deduplicate -- "$@" |
      while IFS= read -r -d '' file; do [[ -f $file ]] && printf '%s\0' "$file"; done
  else
    local pattern
    for pattern in "${@:-*}"; do
      find . -path ./build -prune -o -name node_modules -prune -o -type f -path "./$pattern" -printf '%P\0'
    done
  fi
}

skip() {
  echo "skipped: $1"
  exit 77
}
