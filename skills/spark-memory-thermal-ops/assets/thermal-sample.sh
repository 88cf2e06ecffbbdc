#!/usr/bin/env bash
# bash thermal-sample.sh [SECONDS] [LOGFILE]: a temperature and power log in the background, beside a long run.
# LOGFILE (thermal.log) gets the line "timestamp,temperature.gpu,power.draw", then a line every SECONDS (30) in
# nvidia-smi's own form. An older log is kept as LOGFILE.1. A second start on the same LOGFILE ends the first sampler.
# sparkops records where it can (sparkops record); where it has no recorder yet, nvidia-smi does.
set -uo pipefail

interval=${1:-30} logfile=${2:-thermal.log}
sparkops=${SPARKOPS:-sparkops}
[[ $interval =~ ^[0-9]+([.][0-9]+)?$ ]] || { echo "thermal-sample.sh: '$interval' is no number of seconds" >&2; exit 2; }

if command -v "$sparkops" >/dev/null && "$sparkops" record --help >/dev/null 2>&1; then
  exec "$sparkops" record "$interval" "$logfile" --background
fi
command -v nvidia-smi >/dev/null || { echo "thermal-sample.sh: neither a sparkops that records nor nvidia-smi is here" >&2; exit 3; }

# A pid alone is no proof: it may be somebody else's by now. Field 22 of its stat is its start time.
started() { sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }
if read -r old old_start 2>/dev/null <"$logfile.pid" && [[ $old =~ ^[0-9]+$ && -n $old_start && $(started "$old") == "$old_start" ]]; then
  kill "$old" 2>/dev/null && echo "Stopped the sampler before (pid $old)"
fi
[[ ! -e $logfile ]] || mv -f -- "$logfile" "$logfile.1"
echo "timestamp,temperature.gpu,power.draw" >"$logfile" || exit 2
nohup nvidia-smi --query-gpu=timestamp,temperature.gpu,power.draw --format=csv,noheader \
  -l "${interval%.*}" >>"$logfile" 2>/dev/null </dev/null &
sampler=$!
echo "$sampler $(started "$sampler")" >"$logfile.pid"
echo "Sampling every ${interval}s into $logfile (pid $sampler)"
echo "A sustained 60 to 100 W under load is this platform, not a fault: sparkops explain power-240w"
