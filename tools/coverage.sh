#!/bin/sh
# Measure which lines and branches of the engine, and of Python, the tests reach.
#
#     tools/coverage.sh [TEST]...
#
# It runs the self-test, every case of the engine on several threads, and the corpus of the fuzz
# targets.  PYTHON names an interpreter with the tests' packages and the package coverage.  With it,
# the Python suite or the named TESTs run as well, and MINUTES (10) of its fuzzer; the report then
# has Python's lines, too.  It needs Debian's clang, llvm and libomp-dev.  WORK names the folder of
# the builds, build/coverage by default.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=${WORK:-$root/build/coverage}
python=${PYTHON:-}
minutes=${MINUTES:-10}
jobs=$(getconf _NPROCESSORS_ONLN)
mkdir -p "$work"

extension="-DPROPERBOOST_PYTHON=OFF"
if [ -n "$python" ]; then
  extension="-DSKBUILD=1 -DSKBUILD_PROJECT_NAME=properboost -DSKBUILD_PROJECT_VERSION=0.1.0
    -DPROPERBOOST_PYTHON=ON -DPython_EXECUTABLE=$python
    -Dpybind11_DIR=$("$python" -m pybind11 --cmakedir)"
fi
# Counters are mapped from a file, so that a killed process does not lose them.
for step in "-S $root -B $work/build -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug
    -DPROPERBOOST_SELFTEST=ON -DPROPERBOOST_FUZZ=ON $extension" \
  "--build $work/build --parallel $jobs"; do
  # shellcheck disable=SC2086  # arguments of cmake
  CXXFLAGS='-fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation' \
    cmake $step >"$work/build.log" 2>&1 || { tail -n 60 "$work/build.log"; exit 1; }
done

report() { # what ran, profiles by name, programs
  what=$1 profiles=$2 objects=
  shift 2
  for program in "$@"; do objects="$objects ${objects:+-object }$program"; done
  llvm-profdata merge -sparse "$work/$profiles"*.profraw -o "$work/$profiles.profdata"
  # Of the copies of a template, the one that reaches most counts.
  # shellcheck disable=SC2086  # a list of arguments
  llvm-cov report $objects -instr-profile "$work/$profiles.profdata" "$root/cpp/src" \
    "$root/cpp/include" "$root/cpp/bindings" >"$work/$profiles.txt"
  echo "== C++ by $what, file by file in $work/$profiles.txt"
  awk '/^TOTAL/ { print "lines: " $10 " of " $8 ", branches: " $13 " of " $11 }' "$work/$profiles.txt"
}

rm -f "$work"/*.profraw
export LLVM_PROFILE_FILE="$work/driver-%c%m.profraw"
"$work/build/properboost-selftest" >/dev/null
"$work/build/properboost-threads" --rows 10000 >/dev/null
report "self-test and cases" driver "$work/build/properboost-threads" \
  "$work/build/properboost-selftest"
export LLVM_PROFILE_FILE="$work/corpus-%c%m.profraw"
programs=
for corpus in "$root"/tests/fuzz/corpus/engine/*.txt; do
  target=$(basename "$corpus" .txt)
  program=$work/build/fuzz-${target%-found}
  "$program" "$corpus" >/dev/null
  programs="$programs $program"
done
# shellcheck disable=SC2086  # a list of programs
report "the corpus of the fuzz targets" corpus $programs

[ -n "$python" ] || exit 0
mkdir -p "$work/python"
rm -rf "$work/python/properboost"
cp -R "$root/python/properboost" "$work/python/properboost"
cp "$work/build/"*.so "$work/python/properboost/"
export PYTHONPATH="$work/python" PATH="$(dirname "$python"):$PATH"
cd "$root"

measure() { # what runs, profiles by name, arguments of Python
  what=$1 name=$2
  shift 2
  rm -f "$work/$name.coverage"*
  cat >"$work/$name.rc" <<END
[run]
branch = true
parallel = true
source_pkgs = properboost
data_file = $work/$name.coverage
patch = subprocess, fork, _exit
disable_warnings = module-not-imported, no-data-collected
END
  LLVM_PROFILE_FILE="$work/$name-%c%4m.profraw" \
    "$python" -m coverage run --rcfile="$work/$name.rc" "$@" || echo "$what: something failed"
  report "$what" "$name" "$work/build/"_core*.so
  "$python" -m coverage combine -q --rcfile="$work/$name.rc"
  "$python" -m coverage report --rcfile="$work/$name.rc" >"$work/$name.python.txt"
  echo "== Python by $what, file by file in $work/$name.python.txt"
  "$python" -m coverage json -q --rcfile="$work/$name.rc" -o "$work/$name.json"
  "$python" - "$work/$name.json" <<'END'
import json, sys
t = json.load(open(sys.argv[1]))["totals"]
for what, done, of in ("lines", "covered_lines", "num_statements"), ("branches", "covered_branches", "num_branches"):
    print(f"{what}: {100 * t[done] / t[of]:.2f}% of {t[of]}")
END
}

measure "the Python suite" tests -m pytest -q -n "$jobs" --dist worksteal -p no:cacheprovider \
  "${@:-tests}"
export PYTHONPATH="$PYTHONPATH:$root/tests"
measure "$minutes minutes of the fuzzer" fuzz -m fuzz --minutes "$minutes" \
  --kinds fits,reference,files --keep "$work/failures"
