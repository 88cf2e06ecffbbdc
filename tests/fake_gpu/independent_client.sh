#!/bin/bash
# usage: independent_client.sh VENV SOURCE LIBRARY_FOLDER
# Reads two scenarios through nvidia-ml-py. Ends with 77 (skipped) and a reason when the package cannot be had.
set -eu
venv=$1 source=$2 library=$3
# Python itself must not load the fake library, only the client.
unset LD_LIBRARY_PATH

if [ ! -x "$venv/bin/python3" ]; then
  python3 -m venv "$venv" || { echo "skipped: python3 cannot make a virtual environment (package python3-venv)"; rm -rf "$venv"; exit 77; }
fi
if ! "$venv/bin/python3" -c 'import pynvml' 2>/dev/null; then
  timeout 60 "$venv/bin/python3" -m pip install --quiet --disable-pip-version-check nvidia-ml-py ||
    { echo "skipped: the package nvidia-ml-py could not be installed (is a package registry reachable?)"; exit 77; }
fi
for scenario in loaded-healthy discrete; do
  LD_LIBRARY_PATH=$library FAKE_GPU_SCENARIO=$source/tests/fake_gpu/scenarios/$scenario.txt \
    "$venv/bin/python3" "$source/tests/fake_gpu/pynvml_client.py"
done
