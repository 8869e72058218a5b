#include "properboost/trees/tree_bits.hpp"

#include <algorithm>
#include <array>

#include "properboost/core/instruction_set.hpp"

namespace properboost {
namespace {

// The first code of a set from one on; kMaxCodes if there is none.
std::size_t next(const CodeSet& set, std::size_t from) {
  while (from < kMaxCodes && !set.has(static_cast<std::uint8_t>(from))) {
    const bool rest = (set.bits[from / 64] >> (from % 64)) != 0;
    from = rest ? from + 1 : (from / 64 + 1) * 64;
  }
  return from;
}

// bits[i] loses the bits that row i's codes rule out, for conditions whose bits are in one byte.
template <std::size_t kCount, class Condition>
void rule_out(const Condition* conditions, const std::uint8_t* codes, std::size_t stride,
              std::uint8_t* bits) {
  const std::uint8_t* code[kCount];
  std::uint8_t first[kCount], size[kCount], left[kCount];
  for (std::size_t k = 0; k < kCount; ++k) {
    code[k] = codes + conditions[k].column * stride;
    first[k] = conditions[k].range.first;
    size[k] = conditions[k].range.size;
    left[k] = conditions[k].left;
  }
  std::uint8_t* __restrict const to = bits;
  for (std::size_t i = 0; i < TreeBits::kRows; ++i) {
    std::uint8_t still = to[i];
    for (std::size_t k = 0; k < kCount; ++k) {
      const bool outside = static_cast<std::uint8_t>(code[k][i] - first[k]) >= size[k];
      still = static_cast<std::uint8_t>(still & ((outside ? 0xff : 0) | left[k]));
    }
    to[i] = still;
  }
}

}  // namespace

// The questions at each node of the tree.
struct TreeBits::Questions {
  struct OfNode {
    std::size_t left = 0;
    Question right, none;  // a leaf has neither
  };
  std::vector<OfNode> nodes;
  const FeatureOf& feature_of;

  Questions(const Tree& tree, std::size_t root, std::size_t end, const FeatureOf& of)
      : nodes(end - root), feature_of(of) {
    for (std::size_t k = root; k < end; ++k) {
      if (tree.is_leaf(k)) continue;
      const auto f = static_cast<std::size_t>(tree.feature[k]);
      const std::size_t below = of(f).below;
      CodeSet left, right, either, none;
      for (std::size_t w = 0; w < left.bits.size(); ++w) {
        const std::size_t codes = std::clamp<std::size_t>(below, 64 * w, 64 * (w + 1)) - 64 * w;
        const std::uint64_t occur =
            codes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << codes) - 1;
        left.bits[w] = tree.goes_left[k].bits[w] & occur;
        right.bits[w] = tree.goes_right[k].bits[w] & occur & ~left.bits[w];
        either.bits[w] = left.bits[w] | right.bits[w];
        none.bits[w] = occur & ~either.bits[w];
      }
      // A row that stays at the node has no branch to take.
      nodes[k - root] = {static_cast<std::size_t>(tree.left[k]),
                         {f, separate(right, left)},
                         {f, separate(none, either)}};
    }
  }

  bool is_leaf(std::size_t node) const noexcept { return nodes[node].left == 0; }

  // The fewest ranges that hold the codes of one set and none of another.
  static std::vector<Range> separate(const CodeSet& inside, const CodeSet& outside) {
    std::vector<Range> ranges;
    const auto add = [&](std::size_t first, std::size_t end) {
      ranges.push_back({static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(end - first)});
    };
    for (std::size_t first = next(inside, 0); first < kMaxCodes;) {
      const std::size_t end = next(outside, first);
      if (end - first < kMaxCodes) {
        add(first, end);
      } else {  // a size is a byte
        add(first, kMaxCodes / 2);
        add(kMaxCodes / 2, end);
      }
      first = next(inside, end);
    }
    return ranges;
  }

  std::uint32_t column(const Question& question) const {
    return static_cast<std::uint32_t>(feature_of(question.feature).column);
  }

  void add(const Question& question, std::uint8_t left, std::vector<Condition>& to) const {
    for (const Range& range : question.ranges) to.push_back({column(question), range, left});
  }
};

TreeBits::TreeBits(const Tree& nodes, std::size_t root, std::size_t end,
                   const FeatureOf& feature_of) {
  if (end - root > kMostPlaces) return;
  const Questions tree_questions(nodes, root, end, feature_of);
  are_answers_ = set_answers(tree_questions);
  if (!are_answers_) set_ends(tree_questions);
  set_steps(tree_questions);
}

bool TreeBits::set_answers(const Questions& tree_questions) {
  std::vector<const Question*> different;
  std::vector<std::array<std::uint8_t, 2>> bit_of(tree_questions.nodes.size());  // right, none
  for (std::size_t node = 0; node < tree_questions.nodes.size(); ++node) {
    const Questions::OfNode& questions = tree_questions.nodes[node];
    for (const Question* question : {&questions.right, &questions.none}) {
      if (question->ranges.empty()) continue;
      const auto position =
          std::find_if(different.begin(), different.end(),
                       [&](const Question* other) { return *other == *question; });
      if (position == different.end() && different.size() == kBits) return false;
      bit_of[node][question == &questions.right ? 0 : 1] =
          static_cast<std::uint8_t>(1u << (position - different.begin()));
      if (position == different.end()) different.push_back(question);
    }
  }
  for (std::size_t q = 0; q < different.size(); ++q) {
    tree_questions.add(*different[q], static_cast<std::uint8_t>(~(1u << q)), conditions_);
  }
  ends_ = {static_cast<std::uint32_t>(conditions_.size())};
  node_.resize(std::size_t{1} << different.size());
  for (std::size_t answers = 0; answers < node_.size(); ++answers) {
    std::size_t node = 0;
    while (!tree_questions.is_leaf(node) && (answers & bit_of[node][1]) == 0) {
      node = tree_questions.nodes[node].left + ((answers & bit_of[node][0]) != 0 ? 1 : 0);
    }
    node_[answers] = static_cast<std::uint8_t>(node);
  }
  return true;
}

void TreeBits::set_ends(const Questions& tree_questions) {
  struct RulingOut {
    const Question* question;
    std::size_t begin, end;  // of the places that are ruled out
  };
  std::vector<RulingOut> all;
  std::vector<std::uint8_t> seen(tree_questions.nodes.size(), 0);
  bool is_tree = true;
  // Numbers the places of a branch.
  const auto number = [&](const auto& itself, std::size_t node) -> void {
    if (!is_tree || seen[node] != 0) {
      is_tree = false;
      return;
    }
    seen[node] = 1;
    const Questions::OfNode& questions = tree_questions.nodes[node];
    const std::size_t begin = node_.size();
    if (!tree_questions.is_leaf(node)) {
      itself(itself, questions.left);
      all.push_back({&questions.right, begin, node_.size()});
      itself(itself, questions.left + 1);
      all.push_back({&questions.none, begin, node_.size()});
      if (questions.none.ranges.empty()) return;
    }
    node_.push_back(static_cast<std::uint8_t>(node));
  };
  number(number, 0);
  if (!is_tree) {
    node_.clear();
    return;
  }
  for (std::size_t byte = 0; byte < node_.size(); byte += kBits) {
    for (const RulingOut& ruling : all) {
      const std::size_t begin = std::clamp(ruling.begin, byte, byte + kBits) - byte;
      const std::size_t end = std::clamp(ruling.end, byte, byte + kBits) - byte;
      if (begin == end) continue;
      tree_questions.add(*ruling.question,
                         static_cast<std::uint8_t>(~((1u << end) - (1u << begin))), conditions_);
    }
    ends_.push_back(static_cast<std::uint32_t>(conditions_.size()));
  }
}

void TreeBits::set_steps(const Questions& tree_questions) {
  for (const Questions::OfNode& questions : tree_questions.nodes) {
    if (questions.right.ranges.size() > 1 || !questions.none.ranges.empty()) {
      steps_.clear();
      return;
    }
    const Range right =
        questions.right.ranges.empty() ? Range{0, 0} : questions.right.ranges.front();
    const std::uint32_t begin = questions.left == 0 ? 0
                                                    : tree_questions.column(questions.right) *
                                                          static_cast<std::uint32_t>(kRows);
    steps_.push_back({begin, right, static_cast<std::uint8_t>(questions.left)});
  }
}

void TreeBits::find(const std::uint8_t* codes, std::size_t stride, std::uint8_t* places) const {
  vectorized([codes, stride, places, this] { find_in_vectors(codes, stride, places); });
}

void TreeBits::find_in_vectors(const std::uint8_t* codes, std::size_t stride,
                               std::uint8_t* places) const {
  std::uint8_t bits[kMostPlaces / kBits][kRows];
  const Condition* condition = conditions_.data();
  const std::size_t bytes = ends_.size();
  for (std::size_t b = 0; b < bytes; ++b) {
    const Condition* const end = conditions_.data() + ends_[b];
    std::fill_n(bits[b], kRows, std::uint8_t{0xff});
    // Several at a time, so that bits are fetched and kept less often.
    for (; end - condition >= 4; condition += 4) rule_out<4>(condition, codes, stride, bits[b]);
    switch (end - condition) {
      case 3: rule_out<3>(condition, codes, stride, bits[b]); break;
      case 2: rule_out<2>(condition, codes, stride, bits[b]); break;
      case 1: rule_out<1>(condition, codes, stride, bits[b]); break;
      default: break;
    }
    condition = end;
  }
  std::uint8_t* __restrict const to = places;
  if (are_answers_) {
    for (std::size_t i = 0; i < kRows; ++i) to[i] = static_cast<std::uint8_t>(~bits[0][i]);
    return;
  }
  // The first byte with a bit, and its number.
  std::uint8_t byte[kRows];
  std::copy_n(bits[bytes - 1], kRows, byte);
  std::fill_n(to, kRows, static_cast<std::uint8_t>(kBits * (bytes - 1)));
  for (std::size_t b = bytes - 1; b-- > 0;) {
    const auto first = static_cast<std::uint8_t>(kBits * b);
    const std::uint8_t* const byte_bits = bits[b];
    for (std::size_t i = 0; i < kRows; ++i) {
      byte[i] = byte_bits[i] == 0 ? byte[i] : byte_bits[i];
      to[i] = byte_bits[i] == 0 ? to[i] : first;
    }
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    const auto lowest = static_cast<std::uint8_t>(byte[i] & (~byte[i] + 1));
    to[i] =
        static_cast<std::uint8_t>(to[i] + ((lowest & 0xaa) != 0 ? 1 : 0) +
                                  ((lowest & 0xcc) != 0 ? 2 : 0) + ((lowest & 0xf0) != 0 ? 4 : 0));
  }
}

}  // namespace properboost
