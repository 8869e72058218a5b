#include "properboost/trees/answer_bits.hpp"

#include <algorithm>

#include "properboost/core/instruction_set.hpp"

namespace properboost {

AnswerBits::AnswerBits(const Tree& nodes, std::size_t root, std::size_t end) {
  if (end - root > kMostNodes) return;
  std::vector<std::size_t> asked;                    // the first node of each question
  std::vector<std::size_t> question_of(end - root);  // of each split
  for (std::size_t node = root; node < end; ++node) {
    if (nodes.is_leaf(node)) continue;
    const auto same = [&](std::size_t other) {
      return nodes.feature[node] == nodes.feature[other] &&
             nodes.goes_left[node] == nodes.goes_left[other] &&
             nodes.goes_right[node] == nodes.goes_right[other];
    };
    const auto found = std::find_if(asked.begin(), asked.end(), same);
    question_of[node - root] = static_cast<std::size_t>(found - asked.begin());
    if (found == asked.end()) asked.push_back(node);
    if (asked.size() > kMostQuestions) return;
  }
  for (const std::size_t node : asked) {
    questions_.push_back(make_question(nodes, node, questions_.size()));
  }
  node_.resize(std::size_t{1} << asked.size());
  for (std::size_t bits = 0; bits < node_.size(); ++bits) {
    std::size_t node = 0;
    while (!nodes.is_leaf(root + node)) {
      const auto left = static_cast<std::size_t>(nodes.left[root + node]);
      node = left + (bits >> question_of[node] & 1);
    }
    node_[bits] = static_cast<std::uint8_t>(node);
  }
}

AnswerBits::Question AnswerBits::make_question(const Tree& nodes, std::size_t node,
                                               std::size_t place) {
  Question question{static_cast<std::size_t>(nodes.feature[node]), false, {}, {}, {}};
  const auto right = static_cast<std::uint8_t>(1u << place);
  for (std::size_t b = 0; b < kMaxCodes; ++b) {
    const auto code = static_cast<std::uint8_t>(b);
    const bool goes_right = nodes.goes_right[node].has(code);
    question.answer[b] = nodes.goes_left[node].has(code) ? 0 : goes_right ? right : kNone;
  }
  question.in_ranges =
      set_range(question, right, question.right) && set_range(question, kNone, question.none);
  return question;
}

// The codes whose answer is these bits, if they follow each other.
bool AnswerBits::set_range(const Question& question, std::uint8_t bits, Range& range) {
  const auto is_own = [=](std::uint8_t answer) { return answer == bits; };
  const auto begin = question.answer.begin(), end = question.answer.end();
  const auto first = std::find_if(begin, end, is_own);
  if (first == end) return true;  // no code has them, and no bit is set
  const auto after = std::find_if_not(first, end, is_own);
  range = {static_cast<std::uint8_t>(first - begin), static_cast<std::uint8_t>(after - first - 1),
           bits};
  return std::none_of(after, end, is_own);
}

bool AnswerBits::answer(const std::array<const std::uint8_t*, kMostQuestions>& codes, std::size_t n,
                        std::uint8_t* answers) const {
  std::fill_n(answers, n, std::uint8_t{0});
  std::uint8_t any = 0;
  vectorized([&codes, &any, n, answers, this] {
    // Copies that a byte which is written cannot change.
    std::uint8_t* __restrict const to = answers;
    const std::size_t rows = n, asked = questions_.size();
    const Question* const questions = questions_.data();
    for (std::size_t q = 0; q < asked; ++q) {
      if (!questions[q].in_ranges) continue;
      const std::uint8_t* const from = codes[q];
      const Range right = questions[q].right, none = questions[q].none;
      for (std::size_t i = 0; i < rows; ++i) {
        const auto place = static_cast<std::uint8_t>(from[i] - right.first);
        const auto place_none = static_cast<std::uint8_t>(from[i] - none.first);
        const std::uint8_t bit = place <= right.last ? right.bits : std::uint8_t{0};
        const std::uint8_t nothing = place_none <= none.last ? none.bits : std::uint8_t{0};
        to[i] = static_cast<std::uint8_t>(to[i] | bit | nothing);
      }
    }
    std::uint8_t all = 0;
    for (std::size_t i = 0; i < rows; ++i) all |= to[i];
    any = all;
  });
  for (std::size_t q = 0; q < questions_.size(); ++q) {
    if (questions_[q].in_ranges) continue;
    for (std::size_t i = 0; i < n; ++i) {
      answers[i] |= questions_[q].answer[codes[q][i]];
      any |= answers[i];
    }
  }
  return (any & kNone) == 0;
}

}  // namespace properboost
