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
  static constexpr std::size_t kMostQuestions = 7, kMostNodes = 256;

  // The tree is that of the nodes from `root` to `end`.
  AnswerBits(const Tree& nodes, std::size_t root, std::size_t end);

  // Whether the tree's questions are few enough.
  bool usable() const noexcept { return !node_.empty(); }
  // The numbers of answers that all questions may have.
  std::size_t size() const noexcept { return node_.size(); }

  // Writes the answers of n rows, as numbers; codes_of(f)[i] is row i's code of feature f.  Returns
  // whether all questions have answers for the rows' codes.
  template <class CodesOf>
  bool answer(const CodesOf& codes_of, std::size_t n, std::uint8_t* answers) const {
    std::array<const std::uint8_t*, kMostQuestions> codes{};
    for (std::size_t q = 0; q < questions_.size(); ++q) codes[q] = codes_of(questions_[q].feature);
    return answer(codes, n, answers);
  }

  // Whether the answers of a row are known, and if they are its node, from 0 at the root.
  static bool is_known(std::uint8_t answers) noexcept { return (answers & kNone) == 0; }
  std::size_t node(std::uint8_t answers) const noexcept { return node_[answers]; }

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
  // The same with the codes of each question's feature.
  bool answer(const std::array<const std::uint8_t*, kMostQuestions>& codes, std::size_t n,
              std::uint8_t* answers) const;

  std::vector<Question> questions_;
  std::vector<std::uint8_t> node_;  // by the bits of the answers
};

}  // namespace properboost
