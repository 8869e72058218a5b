#!/bin/sh
# Build the engine's self-test and run it on every processor at hand: this one with each of its
# instruction sets, an emulated x86-64 without vector extensions, and an emulated aarch64.  Debian's
# qemu-user and g++-aarch64-linux-gnu bring the last two; the script names and skips a missing one.
#
# Every case must have the bits in cpp/selftest/tables.txt.  WRITE=yes rewrites that file, for a
# change that means to alter them.  This processor also replays the corpus of the fuzz targets.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=${WORK:-$(mktemp -d)}
failed=0

build() { # folder, further CMake arguments
  folder=$1
  shift
  cmake -S "$root" -B "$work/$folder" -DPROPERBOOST_PYTHON=OFF -DPROPERBOOST_SELFTEST=ON \
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON "$@" \
    >"$work/$folder.log" 2>&1 || { cat "$work/$folder.log"; exit 1; }
  cmake --build "$work/$folder" --parallel >>"$work/$folder.log" 2>&1 \
    || { cat "$work/$folder.log"; exit 1; }
}

check() { # what it is, command
  echo "== $1"
  shift
  "$@" || failed=1
}

tables=$root/cpp/selftest/tables.txt
build native -DPROPERBOOST_FUZZ=ON
if [ "${WRITE:-no}" = yes ]; then "$work/native/properboost-tables" "$tables" --write; fi
for set in avx512 avx2 baseline; do
  if PROPERBOOST_INSTRUCTION_SET=$set "$work/native/properboost-selftest" --probe; then
    check "this processor, $set" \
      env PROPERBOOST_INSTRUCTION_SET=$set "$work/native/properboost-selftest"
    check "  its bits on 1 to 8 threads" \
      env PROPERBOOST_INSTRUCTION_SET=$set "$work/native/properboost-tables" "$tables" \
      --threads 1 --threads 2 --threads 3 --threads 8
  else
    echo "== this processor, $set: not available"
  fi
done

if [ "$(uname -m)" = x86_64 ] && command -v qemu-x86_64 >/dev/null; then
  check "an emulated baseline x86-64" qemu-x86_64 -cpu qemu64 "$work/native/properboost-selftest"
  check "  its bits" qemu-x86_64 -cpu qemu64 "$work/native/properboost-tables" "$tables"
else
  echo "== an emulated baseline x86-64: qemu-x86_64 is missing"
fi

if command -v aarch64-linux-gnu-g++ >/dev/null && command -v qemu-aarch64 >/dev/null; then
  build aarch64 -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
  check "an emulated aarch64" \
    qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/aarch64/properboost-selftest"
  check "  its bits" \
    qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/aarch64/properboost-tables" "$tables"
else
  echo "== an emulated aarch64: aarch64-linux-gnu-g++ or qemu-aarch64 is missing"
fi

for corpus in "$root"/tests/fuzz/corpus/engine/*.txt; do
  target=$(basename "$corpus" .txt)
  check "inputs of the fuzz target: $target" "$work/native/fuzz-${target%-found}" "$corpus"
done

[ -n "${WORK:-}" ] || rm -rf "$work"
exit $failed
