// Instruction sets: the loops over rows are compiled once for each set, and the best set of the
// processor is used at run time.
//
// A kernel is an ordinary loop in a function object without arguments; `vectorized` runs the copy
// of it that was compiled, everything inlined, for the set in use.  The code of a loop fixes the
// order of its additions, and nothing is contracted, so every set gives the same bits.  A kernel
// with one argument receives its set, for operations that a set has no vectors for.
//
// With PROPERBOOST_ONE_COPY there is the copy of the baseline alone, which takes half of the time
// to build: sanitizers check source lines, and all copies have the same.
#pragma once

#include <type_traits>

#if defined(__GNUC__) && defined(__x86_64__)
#define PROPERBOOST_X86_SETS 1
#else
#define PROPERBOOST_X86_SETS 0
#endif

// Without this option GCC uses vectors of half of AVX-512's width.
#if defined(__clang__)
#define PROPERBOOST_AVX512 "avx512f,avx512bw,avx512dq,avx512vl"
#else
#define PROPERBOOST_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"
#endif

namespace properboost {

enum class InstructionSet { kBaseline, kAvx2, kAvx512 };

// The set in use: the processor's best, or the one that the environment variable
// PROPERBOOST_INSTRUCTION_SET names; std::invalid_argument if the processor does not have it.
InstructionSet instruction_set();
const char* name(InstructionSet set) noexcept;

template <InstructionSet kSet>
using CompiledFor = std::integral_constant<InstructionSet, kSet>;

namespace detail {

template <InstructionSet kSet, class Kernel>
void run(const Kernel& kernel) {
  if constexpr (std::is_invocable_v<const Kernel&, CompiledFor<kSet>>) {
    kernel(CompiledFor<kSet>());
  } else {
    kernel();
  }
}

#if PROPERBOOST_X86_SETS
template <class Kernel>
[[gnu::target("avx2"), gnu::flatten]] void run_avx2(const Kernel& kernel) {
  run<InstructionSet::kAvx2>(kernel);
}
template <class Kernel>
[[gnu::target(PROPERBOOST_AVX512), gnu::flatten]] void run_avx512(const Kernel& kernel) {
  run<InstructionSet::kAvx512>(kernel);
}
#endif

}  // namespace detail

template <class Kernel>
void vectorized(const Kernel& kernel) {
#if PROPERBOOST_X86_SETS && !defined(PROPERBOOST_ONE_COPY)
  switch (instruction_set()) {
    case InstructionSet::kAvx512: return detail::run_avx512(kernel);
    case InstructionSet::kAvx2: return detail::run_avx2(kernel);
    case InstructionSet::kBaseline: break;
  }
#endif
  detail::run<InstructionSet::kBaseline>(kernel);
}

}  // namespace properboost
