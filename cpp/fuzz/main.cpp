// Runs a fuzz target where the compiler brings no fuzzer: over a corpus, then over inputs of its
// own, made by changing those or from nothing.
//
//     fuzz-TARGET [CORPUS]... [--seconds N] [--seed N]
//
// A corpus has a line per input: its bytes in octal, as \012\377.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bytes.hpp"

namespace {

using Input = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;

void read_corpus(const std::string& path, std::vector<Input>& corpus) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    Input& input = corpus.emplace_back();
    for (std::size_t i = 1; i + 2 < line.size(); i += 4) {
      input.push_back(static_cast<std::uint8_t>(std::stoi(line.substr(i, 3), nullptr, 8)));
    }
  }
}

std::string last;  // where the input lies if it ends the process

void run(const Input& input) {
  std::ofstream(last, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()),
             static_cast<std::streamsize>(input.size()));
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0.0;
  std::uint64_t seed = 0, n = 0;
  std::vector<Input> corpus;
  last = std::string(argv[0]) + ".last";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--seconds" && i + 1 < argc) {
      seconds = std::strtod(argv[++i], nullptr);
    } else if (argument == "--seed" && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      read_corpus(argument, corpus);
    }
  }
  for (const Input& input : corpus) run(input);
  const auto draw = [&] { return properboost::draw_bits(seed, 1, n++); };
  std::uint64_t inputs = corpus.size();
  for (const auto began = Clock::now();
       std::chrono::duration<double>(Clock::now() - began).count() < seconds; ++inputs) {
    Input input;
    if (!corpus.empty() && draw() % 2 == 0) input = corpus[draw() % corpus.size()];
    input.resize(std::max<std::size_t>(input.size(), draw() % 96));
    const std::uint64_t changes = corpus.empty() ? input.size() : 1 + draw() % 8;
    for (std::uint64_t k = 0; k < changes && !input.empty(); ++k) {
      input[draw() % input.size()] = static_cast<std::uint8_t>(draw());
    }
    run(input);
  }
  std::filesystem::remove(last);
  std::printf("%llu inputs\n", static_cast<unsigned long long>(inputs));
  return 0;
}
