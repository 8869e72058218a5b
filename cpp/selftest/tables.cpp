// Whether the engine's results have the same bits here as everywhere.
//
//     properboost-tables FILE [--threads N]...   compares with the file, on 1 thread or on each N
//     properboost-tables FILE --only WORD        compares the cases whose names begin with a word
//     properboost-tables FILE --write            writes it anew
//
// The file has one line per case: its name and a number that stands for all bits of its results.
// A change that means to alter bits writes it anew in the same commit.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "cases.hpp"
#include "properboost/core/instruction_set.hpp"

namespace {

using namespace properboost;

constexpr std::size_t kRows = 10'000;

std::string result_of(const selftest::Case& one, int threads) {
  const std::uint64_t digest = one.run({threads});
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, digest);
  return text;
}

// A case's first word, its kind.
std::string word_of(const std::string& name) { return name.substr(0, name.find('-')); }

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> threads;
  std::string only;
  bool write = false;
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--write") write = true;
    if (argument == "--threads" && i + 1 < argc) threads.push_back(std::stoi(argv[++i]));
    if (argument == "--only" && i + 1 < argc) only = argv[++i];
  }
  if (argc < 2) return 2;
  std::vector<selftest::Case> cases = selftest::make_cases(kRows);
  if (write) {
    std::ofstream file(argv[1]);
    for (const selftest::Case& one : cases) file << one.name << ' ' << result_of(one, 1) << '\n';
    return file ? 0 : 1;
  }
  const auto is_left_out = [&](const std::string& name) {
    return !only.empty() && word_of(name) != only;
  };
  cases.erase(std::remove_if(cases.begin(), cases.end(),
                             [&](const selftest::Case& one) { return is_left_out(one.name); }),
              cases.end());
  std::map<std::string, std::string> known;
  std::ifstream file(argv[1]);
  for (std::string name, result; file >> name >> result;) {
    if (!is_left_out(name)) known[name] = result;
  }
  if (threads.empty()) threads.push_back(1);
  int differ = 0;
  for (const selftest::Case& one : cases) {
    for (const int n : threads) {
      const std::string result = result_of(one, n);
      const auto expected = known.find(one.name);
      if (expected != known.end() && expected->second == result) continue;
      ++differ;
      std::printf("FAILED: %s on %d threads: %s, not %s\n", one.name.c_str(), n, result.c_str(),
                  expected == known.end() ? "in the file" : expected->second.c_str());
    }
  }
  if (known.size() != cases.size()) {
    ++differ;
    std::printf("FAILED: the file has %zu cases; there are %zu\n", known.size(), cases.size());
  }
  std::printf("%zu cases, %zu numbers of threads, %s: %d differ\n", cases.size(), threads.size(),
              name(instruction_set()), differ);
  return differ == 0 ? 0 : 1;
}
