#!/bin/sh
# Fuzz the engine below Python.
#
#     tools/fuzz_engine.sh MINUTES [TARGET]...
#
# The targets are those of cpp/fuzz, and share the minutes; MINUTES 0 only replays the corpus.  With
# Clang, libFuzzer changes the inputs, guided by coverage; without, the same targets get the corpus
# and random bytes.  Sanitizers check addresses and undefined behaviour either way.
#
# New inputs are kept in WORK/corpus (build/fuzz by default), and a later call goes on from there.
# The corpus in tests/fuzz/corpus/engine has one file per target, and a line per input: its bytes in
# octal, as printf takes them.  KEEP=yes replaces it by all inputs that add coverage; a failure,
# shrunk, is always added to TARGET-found.txt.  make selftest replays both.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=${WORK:-$root/build/fuzz}
corpus=$root/tests/fuzz/corpus/engine
jobs=$(getconf _NPROCESSORS_ONLN)
minutes=$1
shift
targets=${*:-$(cd "$root/cpp/fuzz" && grep -l LLVMFuzzerTestOneInput ./*.cpp | grep -v main | sed 's/..\(.*\).cpp/\1/')}
n=$(echo "$targets" | wc -w)
seconds=$(awk "BEGIN { print int(60 * $minutes * ($jobs < $n ? $jobs : $n) / $n) }")
mkdir -p "$work/corpus" "$work/failures"

sanitizers=address,undefined,float-cast-overflow
if command -v clang++ >/dev/null; then
  cxx=clang++
  sanitizers=fuzzer-no-link,$sanitizers
else
  cxx=${CXX:-c++}
  echo "== clang++ is missing (Debian: clang, libomp-dev): random bytes from $cxx's build"
fi
echo "== building with $cxx"
for step in "-S $root -B $work/$cxx -DCMAKE_CXX_COMPILER=$cxx -DPROPERBOOST_SANITIZE=$sanitizers
    -DPROPERBOOST_PYTHON=OFF -DPROPERBOOST_FUZZ=ON" "--build $work/$cxx --parallel $jobs"; do
  # shellcheck disable=SC2086  # arguments of cmake
  cmake $step >"$work/build.log" 2>&1 || { tail -n 60 "$work/build.log"; exit 1; }
done

export ASAN_OPTIONS=detect_stack_use_after_return=1:allocator_may_return_null=0
export UBSAN_OPTIONS=print_stacktrace=1
cat >"$work/fuzz" <<'END'
#!/bin/sh
# Fuzzes one target, then prints the number of inputs it tried.
seconds=$1 cxx=$2 work=$3 corpus=$4 target=$5
inputs=$work/corpus/$target log=$work/$target.log program=$work/$cxx/fuzz-$target
mkdir -p "$inputs" "$corpus"
line_of() { printf '%s\n' "$(od -An -v -to1 "$1" | tr -d '\n' | tr ' ' '\\')"; }
if [ "$cxx" = clang++ ]; then
  n=0
  cat "$corpus/$target.txt" "$corpus/$target-found.txt" 2>/dev/null | while IFS= read -r line; do
    n=$((n + 1))
    printf "$line" >"$inputs/known-$n"
  done
  # Without time it replays the corpus and ends.
  limit="-max_total_time=$seconds"
  [ "$seconds" -gt 0 ] || limit=-runs=0
  if "$program" $limit -max_len=4096 -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$work/failures/$target-" "$inputs" >"$log" 2>&1; then
    if [ "$KEEP" = yes ]; then
      rm -rf "$work/kept/$target"
      mkdir -p "$work/kept/$target"
      "$program" -merge=1 -max_len=256 "$work/kept/$target" "$inputs" >>"$log" 2>&1
      for input in "$work/kept/$target"/*; do line_of "$input"; done | sort >"$corpus/$target.txt"
    fi
    tried=$(sed -n 's/stat::number_of_executed_units: *//p' "$log")
    covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    echo "$target: $tried inputs, $covered edges of the code reached, nothing found"
    exit
  fi
  failure=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  if [ -f "$failure" ]; then
    "$program" -minimize_crash=1 -max_total_time=60 -exact_artifact_path="$failure.shrunk" \
      "$failure" >/dev/null 2>&1
    [ ! -f "$failure.shrunk" ] || failure=$failure.shrunk
  fi
else
  if "$program" $(ls "$corpus/$target"*.txt 2>/dev/null) --seconds "$seconds" --seed "$(date +%s)" \
    >"$log" 2>&1; then
    echo "$target: $(tail -n 1 "$log"), nothing found"
    exit
  fi
  failure=$program.last
fi
line_of "$failure" >>"$corpus/$target-found.txt"
grep -E 'FAILED|ERROR|SUMMARY|runtime error|what\(\)' "$log"
echo "$target: FAILED, see $log and the last line of $corpus/$target-found.txt"
exit 1
END
echo "== $seconds s of each: $(echo "$targets" | tr '\n' ' ')"
echo "$targets" \
  | KEEP=${KEEP:-no} xargs -n 1 -P "$jobs" sh "$work/fuzz" "$seconds" "$cxx" "$work" "$corpus"
