#!/bin/sh
# Run the engine under sanitizers and read it with Clang's static analyser.
#
#     tools/sanitize.sh [--short]
#
# The sanitizers of addresses and undefined behaviour use the compiler at hand.  They run the
# self-test, every case of the engine, and tests of the Python suite, if PYTHON names an interpreter
# with their packages (make sanitize does).  Clang's detector of races runs every case on several
# threads, for several callers at once, after it has detected a planted race.  --short takes fewer
# rows and tests, compiles loops for one instruction set, and leaves the analyser out.  Debian's g++
# has the first two sanitizers, clang and libomp-dev the third; the script names and skips those that
# are missing.  WORK names the folder of the builds, build/sanitize by default.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=${WORK:-$root/build/sanitize}
python=${PYTHON:-}
cxx=${CXX:-c++}
jobs=$(getconf _NPROCESSORS_ONLN)
short=no
[ "${1:-}" = --short ] && short=yes
mkdir -p "$work"
began=$(date +%s)
failed=

# GCC's group "undefined" lacks float-cast-overflow.  A float divided by zero is not undefined here:
# the engine relies on IEEE arithmetic, and rejects results that are not finite where they appear.
undefined=address,undefined,float-cast-overflow
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1

if [ $short = yes ]; then
  rows=8000
  copies=-DPROPERBOOST_ONE_COPY=ON
  tests="tests/engine/test_binning.py tests/engine/test_bundles.py tests/engine/test_narrow_sums.py
    tests/engine/test_narrow_trees.py
    tests/engine/test_peers.py tests/engine/test_prediction.py tests/models/test_tree.py"
else
  rows=60000
  copies=-DPROPERBOOST_ONE_COPY=OFF
  # A third of the suite: the most direct calls of the engine, with every kind of table and loss.
  tests="tests/engine tests/models tests/fitting tests/data tests/rado tests/losses tests/persistence
    tests/estimators/test_every_model.py"
fi

say() { echo "== $1 ($(($(date +%s) - began)) s)"; }

build() { # folder, further CMake arguments
  folder=$1
  shift
  cmake -S "$root" -B "$work/$folder" $copies "$@" >"$work/$folder.log" 2>&1 \
    && cmake --build "$work/$folder" --parallel "$jobs" >>"$work/$folder.log" 2>&1 \
    || { tail -n 60 "$work/$folder.log"; exit 1; }
}

check() { # what it is, command
  say "$1"
  what=$1
  shift
  "$@" || failed="$failed
  $what"
}

# A command of one thread runs beside those that follow, and its output waits for `join`.
beside() { # command
  "$@" >"$work/beside.log" 2>&1 &
  other=$!
}
join() {
  wait "$other" && rc=0 || rc=$?
  cat "$work/beside.log"
  return "$rc"
}

# GCC's runtimes can be preloaded into an interpreter: the extension has the self-test's objects.
left_out=
if [ -z "$python" ]; then
  left_out="PYTHON names no interpreter (make sanitize does)"
elif ! "$cxx" --version | grep -qi gcc && ! "$cxx" --version | grep -q "Free Software"; then
  left_out="$cxx is not GCC, whose sanitizers can be preloaded"
fi
if [ -z "$left_out" ]; then
  set -- -DPROPERBOOST_PYTHON=ON -DPython_EXECUTABLE="$python" \
    -Dpybind11_DIR="$("$python" -m pybind11 --cmakedir)"
else
  set -- -DPROPERBOOST_PYTHON=OFF
fi
say "$cxx -fsanitize=$undefined: building"
build undefined -DCMAKE_CXX_COMPILER="$cxx" -DPROPERBOOST_SELFTEST=ON \
  -DPROPERBOOST_SANITIZE=$undefined "$@"
beside "$work/undefined/properboost-tables" "$root/cpp/selftest/tables.txt"
check "the self-test" "$work/undefined/properboost-selftest"
check "every case on several threads" "$work/undefined/properboost-threads" --rows $rows
check "every case, with the bits that are expected" join

# The interpreter is not instrumented, so the runtimes must be there before it; its own memory is
# never all freed.
preloaded() {
  for library in libasan.so libubsan.so libstdc++.so.6; do "$cxx" -print-file-name=$library; done
}
run_tests() {
  mkdir -p "$work/python"
  rm -rf "$work/python/properboost"
  cp -R "$root/python/properboost" "$work/python/properboost"
  cp "$work/undefined/"*.so "$work/python/properboost/"
  # shellcheck disable=SC2086  # the tests are a list
  (cd "$root" \
    && LD_PRELOAD=$(preloaded | tr '\n' ' ') ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 \
      PYTHONMALLOC=malloc PYTHONPATH=$work/python \
      "$python" -m pytest -q -n "$jobs" --dist worksteal -p no:cacheprovider $tests)
}
if [ -z "$left_out" ]; then
  check "tests of the Python suite" run_tests
else
  say "tests of the Python suite: left out, $left_out"
fi

# A library in OpenMP's runtime reports the waits of its threads to the detector.
archer=
for place in "$(clang++ -print-file-name=libarcher.so 2>/dev/null)" /usr/lib/llvm-*/lib/libarcher.so; do
  if [ -f "$place" ]; then archer=$place; fi
done
if [ -n "$archer" ]; then
  say "clang++ -fsanitize=thread: building"
  build thread -DCMAKE_CXX_COMPILER=clang++ -DPROPERBOOST_PYTHON=OFF -DPROPERBOOST_SELFTEST=ON \
    -DPROPERBOOST_SANITIZE=thread
  export OMP_TOOL_LIBRARIES="$archer" TSAN_OPTIONS=ignore_noninstrumented_modules=1
  say "a planted race"
  if "$work/thread/properboost-threads" --race >"$work/race.log" 2>&1 \
    || ! grep -q 'ThreadSanitizer: data race' "$work/race.log"; then
    cat "$work/race.log"
    failed="$failed
  a planted race was not found"
  fi
  check "every case on several threads" "$work/thread/properboost-threads" --rows $rows
else
  say "races: left out, clang++ or libomp's libarcher.so is missing (Debian: clang, libomp-dev)"
fi

analyse() {
  find "$root/cpp/src" -name '*.cpp' -print0 | xargs -0 -n 1 -P "$jobs" \
    clang++ --analyze -Xclang -analyzer-output=text -Xclang -analyzer-werror -std=c++17 \
    -fopenmp -I"$root/cpp/include" -I"$work/undefined/generated"
}
if [ $short = yes ]; then
  :
elif command -v clang++ >/dev/null; then
  check "Clang's static analyser" analyse
else
  say "Clang's static analyser: left out, clang++ is missing (Debian: clang)"
fi

if [ -n "$failed" ]; then
  say "FAILED:$failed"
  exit 1
fi
say "nothing found"
