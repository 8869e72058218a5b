// Trees that ask few questions, as tables: a row's node is looked up by the bits of its answers.
//
// A question is a feature and the two sets of codes that its branches take.  All nodes of a
// symmetric tree's level ask the same.  Questions are asked of many rows at once, and then each row
// takes one look-up, however deep the tree is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/data/binning.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost {

class AnswerBits {
 public:
  static constexpr std::size_t kMostQuestions = 7;

  // The tree is that of the nodes from `root` to `end`.
  AnswerBits(const Tree& nodes, std::size_t root, std::size_t end);

  // Whether the tree's questions are few enough.
  bool usable() const noexcept { return !node_.empty(); }

  // Writes nodes[i], from 0 at the root, of n rows; codes_of(f)[i] is row i's code of feature f.
  // Returns whether all are found: where one is not, as a question has no answer for the row's
  // code, it is kUnknown.
  static constexpr std::uint8_t kUnknown = 255;
  template <class CodesOf>
  bool find_nodes(const CodesOf& codes_of, std::size_t n, std::uint8_t* nodes) const {
    for (std::size_t i = 0; i < n; ++i) nodes[i] = 0;
    for (const Question& question : questions_) ask(question, codes_of(question.feature), n, nodes);
    return look_up(n, nodes);
  }

 private:
  // Bits that are set for codes from `first` on, so many.
  struct Range {
    std::uint8_t first = 0, last = 0, bits = 0;  // the last is counted from the first
  };
  struct Question {
    std::size_t feature;
    bool in_ranges;  // else `answer` has what each code's bits are
    Range right, none;
    std::array<std::uint8_t, kMaxCodes> answer;
  };
  static constexpr std::uint8_t kNone = 0x80;  // the bit of no answer

  static Question make_question(const Tree& nodes, std::size_t node, std::size_t place);
  static bool set_range(const Question& question, std::uint8_t bits, Range& range);
  static void ask(const Question& question, const std::uint8_t* codes, std::size_t n,
                  std::uint8_t* bits);
  bool look_up(std::size_t n, std::uint8_t* nodes) const;

  std::vector<Question> questions_;
  std::vector<std::uint8_t> node_;  // by the bits of the answers
};

}  // namespace properboost
