#!/usr/bin/env bash
# bash preflight.sh [OPTION…]: sparkops preflight with OPTION…, in the lines that scripts of the first checklist read:
# every result line starts with its number, and two of them are plain readings:
#   G3 INFO: free/used (GB): <free> <used>          whole GiB, as free -g counts
#   G4 INFO: <temperature>, <power> W
# A warning or a failure of G3 or G4 follows as a line of its own. SPARKOPS names the program. Exit: that of preflight.
set -uo pipefail

sparkops=${SPARKOPS:-sparkops}
if ! command -v "$sparkops" >/dev/null; then
  echo "preflight.sh: $sparkops is not installed; copy the one file to a folder on your PATH, or install the .deb" >&2
  exit 3
fi

# Of the options only --root concerns the readings too.
root=()
for ((i = 1; i <= $#; i++)); do
  case ${!i} in
    --root=*) root=("${!i}") ;;
    --root) next=$((i + 1)) && root=(--root "${!next:-}") ;;
    --) break ;;
  esac
done
status=$("$sparkops" status --json "${root[@]}" 2>/dev/null </dev/null)

# reading KEY: its number in the status, nothing where it is null or absent.
reading() {
  sed -n "s/^ *\"$1\": \([0-9.][0-9.]*\),\{0,1\}\$/\1/p" <<<"$status" | head -n 1
}
total=$(reading total_bytes) free=$(reading free_bytes) available=$(reading available_bytes)
temperature=$(reading temperature_c) power=$(reading power_w)

gibibyte=$((1024 * 1024 * 1024))
memory_line="G3 SKIP: the memory of this machine could not be read"
if [[ -n $total && -n $free && -n $available ]]; then
  memory_line="G3 INFO: free/used (GB): $((free / gibibyte)) $(((total - available) / gibibyte))"
fi
thermal_line="G4 SKIP: temperature and power of the GPU could not be read"
if [[ -n $temperature && -n $power ]]; then
  thermal_line=$(LC_ALL=C printf 'G4 INFO: %.0f, %.2f W' "$temperature" "$power")
fi

"$sparkops" preflight "$@" </dev/null | awk -v memory="$memory_line" -v thermal="$thermal_line" '
  function own_line(reading) { print reading; shown = $2 != "INFO:" && $2 != "PASS:"; if (shown) print }
  $1 == "G3" { own_line(memory); next }
  $1 == "G4" { own_line(thermal); next }
  # What is indented belongs to the line before.
  /^ / { if (shown) print; next }
  { shown = 1; print }'
exit "${PIPESTATUS[0]}"
