#!/bin/sh
# Reads wrk's block the way wrktest.sh does: prints a line of its data file.
# usage: read_wrk.sh WRK CONNECTIONS URL; $DURATION (1s), $TIMEOUT (30s)
set -eu
wrk=$1
connections=$2
url=$3
block=$("$wrk" -t2 "-c$connections" "-d${DURATION:-1s}" "-T${TIMEOUT:-30s}" --latency "$url")

qps=$(printf '%s\n' "$block" | grep 'Requests/sec' | awk '{print $2}')
requests=$(printf '%s\n' "$block" | grep 'requests in' | awk '{print $1}')
mean=$(printf '%s\n' "$block" | grep 'Latency ' | awk '{print $2}')
median=$(printf '%s\n' "$block" | grep '50%' | awk '{print $2}')
errors=$(printf '%s\n' "$block" | grep 'Socket errors' | tr -d ',' |
  awk '{print $4 + $6 + $8 + $10}')
milliseconds=$(printf '%s\n' "$mean" |
  awk '/us$/ {print $1 / 1000; next} /ms$/ {print $1 + 0; next} /s$/ {print $1 * 1000}')
success=$(awk -v n="$requests" -v e="${errors:-0}" 'BEGIN {printf "%.2f", 100 * (n - e) / n}')
test -n "$median"
echo "$connections $qps $milliseconds $success"
