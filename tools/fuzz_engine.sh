#!/bin/sh
# Fuzz the engine below Python.
#
#     tools/fuzz_engine.sh MINUTES [TARGET]...
#
# The targets are those of cpp/fuzz, and share the minutes; MINUTES 0 only replays the corpus.  With
# Clang it is libFuzzer that changes the inputs, by what they reach; without, the same targets get
# the corpus and random bytes.  Address and undefined behaviour are watched either way.
#
# New inputs are kept in WORK/corpus (build/fuzz by default), and a later call goes on from there.
# KEEP=yes moves those that reach something new into tests/fuzz/corpus/engine, and a failure,
# shrunk, always goes there: every call begins with that corpus, as make selftest does.
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
# Fuzzes one target, then says how many inputs it tried.
seconds=$1 cxx=$2 work=$3 corpus=$4 target=$5
found=$work/corpus/$target log=$work/$target.log
mkdir -p "$found" "$corpus/$target"
if [ "$cxx" = clang++ ]; then
  # Without time it replays the corpus and ends.
  limit="-max_total_time=$seconds"
  [ "$seconds" -gt 0 ] || limit=-runs=0
  if "$work/$cxx/fuzz-$target" $limit -max_len=4096 -timeout=60 -rss_limit_mb=4096 \
    -print_final_stats=1 -artifact_prefix="$work/failures/$target-" "$found" "$corpus/$target" \
    >"$log" 2>&1; then
    [ "$KEEP" != yes ] || "$work/$cxx/fuzz-$target" -merge=1 -max_len=256 "$corpus/$target" \
      "$found" >/dev/null 2>&1
    inputs=$(sed -n 's/stat::number_of_executed_units: *//p' "$log")
    covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    echo "$target: $inputs inputs, $covered edges of the code reached, nothing found"
    exit
  fi
  input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  if [ -f "$input" ]; then
    shrunk=$corpus/$target/$(basename "$input")
    cp "$input" "$shrunk"
    "$work/$cxx/fuzz-$target" -minimize_crash=1 -max_total_time=60 -exact_artifact_path="$shrunk" \
      "$input" >/dev/null 2>&1
  fi
else
  if "$work/$cxx/fuzz-$target" "$corpus/$target" "$found" --seconds "$seconds" \
    --seed "$(date +%s)" >"$log" 2>&1; then
    echo "$target: $(tail -n 1 "$log"), nothing found"
    exit
  fi
  shrunk=$corpus/$target/failure-$(date +%s)
  cp "$work/$cxx/fuzz-$target.last" "$shrunk"
fi
grep -E 'FAILED|ERROR|SUMMARY|runtime error|what\(\)' "$log"
echo "$target: FAILED, see $log and $shrunk"
exit 1
END
echo "== $seconds s of each: $(echo "$targets" | tr '\n' ' ')"
echo "$targets" \
  | KEEP=${KEEP:-no} xargs -n 1 -P "$jobs" sh "$work/fuzz" "$seconds" "$cxx" "$work" "$corpus"
