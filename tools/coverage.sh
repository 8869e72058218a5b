#!/bin/sh
# Which lines and branches of the engine, and of Python, are reached.
#
#     tools/coverage.sh [TEST]...
#
# First by the self-test, every case of the engine on several threads, and the corpus of the fuzz
# targets; with PYTHON, an interpreter that has what the tests need and the package coverage, then by
# the Python suite or the TESTs named, beside the same for Python's own lines.  Debian's clang, llvm
# and libomp-dev are needed.  WORK names the folder of the builds, build/coverage by default.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=${WORK:-$root/build/coverage}
python=${PYTHON:-}
jobs=$(getconf _NPROCESSORS_ONLN)
mkdir -p "$work"

build() { # folder, further CMake arguments
  folder=$1
  shift
  cmake -S "$root" -B "$work/$folder" -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS='-fprofile-instr-generate -fcoverage-mapping' "$@" >"$work/$folder.log" 2>&1 \
    && cmake --build "$work/$folder" --parallel "$jobs" >>"$work/$folder.log" 2>&1 \
    || { tail -n 60 "$work/$folder.log"; exit 1; }
}

report() { # what ran, profiles by name, programs
  what=$1 profiles=$2 objects=
  shift 2
  for program in "$@"; do objects="$objects -object $program"; done
  llvm-profdata merge -sparse "$work/$profiles"*.profraw -o "$work/$profiles.profdata"
  # Branches of templates are counted once for each copy.
  # shellcheck disable=SC2086  # a list of arguments
  llvm-cov report $objects -instr-profile "$work/$profiles.profdata" "$root/cpp/src" \
    "$root/cpp/include" >"$work/$profiles.txt"
  echo "== C++ by $what, file by file in $work/$profiles.txt"
  sed -n '1p;$p' "$work/$profiles.txt"
}

build engine -DPROPERBOOST_PYTHON=OFF -DPROPERBOOST_SELFTEST=ON -DPROPERBOOST_FUZZ=ON
rm -f "$work"/*.profraw
export LLVM_PROFILE_FILE="$work/driver-%p.profraw"
"$work/engine/properboost-selftest" >/dev/null
"$work/engine/properboost-threads" --rows 10000 >/dev/null
report "self-test and cases" driver "$work/engine/properboost-threads" \
  "$work/engine/properboost-selftest"
export LLVM_PROFILE_FILE="$work/fuzz-%p.profraw"
programs=
for corpus in "$root"/tests/fuzz/corpus/engine/*.txt; do
  target=$(basename "$corpus" .txt)
  program=$work/engine/fuzz-${target%-found}
  "$program" "$corpus" >/dev/null
  programs="$programs $program"
done
# shellcheck disable=SC2086  # a list of programs
report "the corpus of the fuzz targets" fuzz $programs

[ -n "$python" ] || exit 0
build extension -DSKBUILD=1 -DSKBUILD_PROJECT_NAME=properboost -DSKBUILD_PROJECT_VERSION=0.1.0 \
  -DPython_EXECUTABLE="$python" -Dpybind11_DIR="$("$python" -m pybind11 --cmakedir)"
mkdir -p "$work/python"
rm -rf "$work/python/properboost"
cp -R "$root/python/properboost" "$work/python/properboost"
cp "$work/extension/"*.so "$work/python/properboost/"
export LLVM_PROFILE_FILE="$work/tests-%p.profraw" PYTHONPATH="$work/python"
cd "$root"
"$python" -m coverage run --branch --source=properboost --data-file="$work/python.coverage" \
  -m pytest -q -p no:cacheprovider "${@:-tests}" || echo "some tests failed"
report "the Python suite" tests "$work/extension/"_core*.so
"$python" -m coverage report --data-file="$work/python.coverage" | sed -n '1p;$p'
