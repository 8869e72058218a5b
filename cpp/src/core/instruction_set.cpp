#include "properboost/core/instruction_set.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace properboost {
namespace {

constexpr InstructionSet kSets[] = {InstructionSet::kAvx512, InstructionSet::kAvx2,
                                    InstructionSet::kBaseline};  // best first

bool available(InstructionSet set) {
#if PROPERBOOST_X86_SETS
  __builtin_cpu_init();
  switch (set) {
    case InstructionSet::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    case InstructionSet::kAvx2: return __builtin_cpu_supports("avx2");
    case InstructionSet::kBaseline: break;
  }
#endif
  return set == InstructionSet::kBaseline;
}

InstructionSet choose() {
  const char* choice = std::getenv("PROPERBOOST_INSTRUCTION_SET");
  const bool any = choice == nullptr || *choice == '\0';
  std::string known;
  for (const InstructionSet set : kSets) {
    if (!available(set)) continue;
    if (any || std::string(choice) == name(set)) return set;
    known += (known.empty() ? "'" : ", '") + std::string(name(set)) + "'";
  }
  throw std::invalid_argument(
      "the environment variable PROPERBOOST_INSTRUCTION_SET must be one of " + known +
      " on this processor; got '" + choice + "'");
}

}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet chosen = choose();
  return chosen;
}

const char* name(InstructionSet set) noexcept {
  switch (set) {
    case InstructionSet::kAvx512: return "avx512";
    case InstructionSet::kAvx2: return "avx2";
    case InstructionSet::kBaseline: break;
  }
  return "baseline";
}

}  // namespace properboost
