#include "properboost/trees/vote_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "properboost/trees/split.hpp"

namespace properboost {

Voters::Voters(const Codes& codes, const Bins& bins, const std::vector<Role>& roles,
               const Electorate& electorate)
    : codes_(codes),
      bins_(bins),
      electorate_(electorate),
      slot_(codes.rows, 0),
      weight_(codes.rows, 0.0) {
  for (std::size_t s = 0; s < roles.size(); ++s) {
    if (!learns(roles[s])) continue;
    const std::size_t slot = vote().slot(electorate.group(s), roles[s] == Role::kPositive);
    for (std::size_t i = codes.segments[s]; i < codes.segments[s + 1]; ++i) {
      slot_[i] = static_cast<std::uint16_t>(slot);
      rows_.push_back(static_cast<std::uint32_t>(i));
    }
  }
}

void Voters::weigh(const float* weight, const double* sample_weight, Team& team) {
  constexpr std::size_t kRows = 8'192;
  team.for_each(
      (rows_.size() + kRows - 1) / kRows, 1.0 * static_cast<double>(rows_.size()),
      [&](std::size_t c) {
        for (std::size_t j = c * kRows; j < std::min((c + 1) * kRows, rows_.size()); ++j) {
          const std::size_t i = rows_[j];
          weight_[i] =
              static_cast<double>(weight[i]) * (sample_weight == nullptr ? 1.0 : sample_weight[i]);
        }
      });
}

std::vector<double> add_up(const Voters& voters, const std::vector<std::uint32_t>& rows,
                           std::size_t f) {
  const std::size_t slots = voters.vote().slots();
  std::vector<double> sums(slots * static_cast<std::size_t>(voters.bins()[f].width()), 0.0);
  const std::uint8_t* const code = voters.codes().feature(f);
  for (const std::uint32_t i : rows) sums[code[i] * slots + voters.slot(i)] += voters.weight(i);
  return sums;
}

namespace {

// The best split of one feature's codes, as `Split` finds it of two classes.  Categories are
// ordered by the share of the slot that is heaviest in all of them: of two classes no order is
// better.
struct VoteSplit {
  double cost = std::numeric_limits<double>::infinity();
  CellOfCode side{};

  VoteSplit(const FeatureBins& bins, const std::vector<double>& sums, const Vote& vote) {
    const std::size_t slots = vote.slots();
    const auto at = [&](std::size_t code) { return sums.data() + code * slots; };
    const auto weight = [&](std::size_t code) {
      return std::accumulate(at(code), at(code) + slots, 0.0);
    };
    const std::vector<std::size_t> order = find_order(bins, sums, slots, weight);
    const auto missing = static_cast<std::size_t>(bins.missing());
    const bool floating = bins.ordered() && weight(missing) > 0.0;

    const std::size_t n = order.size();
    std::vector<double> right((n + 1) * slots, 0.0);  // of all from the i-th of the order on
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = 0; k < slots; ++k) {
        right[i * slots + k] = right[(i + 1) * slots + k] + at(order[i])[k];
      }
    }
    // A cut after i codes, missing values on the left; then on the right.
    std::vector<double> costs(2 * n, std::numeric_limits<double>::infinity());
    std::vector<double> left(slots, 0.0);
    std::vector<double> with_missing(slots);
    const auto join_missing = [&](const double* side_sums) {
      for (std::size_t k = 0; k < slots; ++k) with_missing[k] = side_sums[k] + at(missing)[k];
      return with_missing.data();
    };
    for (std::size_t i = 1; i <= n; ++i) {
      for (std::size_t k = 0; k < slots; ++k) left[k] += at(order[i - 1])[k];
      const double* const rest = right.data() + i * slots;
      if (i < n) {
        costs[i] = vote.cost(floating ? join_missing(left.data()) : left.data()) + vote.cost(rest);
      }
      if (floating) costs[n + i - 1] = vote.cost(left.data()) + vote.cost(join_missing(rest));
    }
    const std::size_t best = first_best(costs.data(), costs.size());
    if (costs.empty() || !std::isfinite(costs[best])) return;
    cost = costs[best];
    const bool missing_left = best < n;
    const std::size_t cut = missing_left ? best : best - n + 1;
    side.fill(Split::kNeither);
    for (std::size_t i = 0; i < n; ++i) side[order[i]] = i < cut ? Split::kLeft : Split::kRight;
    if (floating) side[missing] = missing_left ? Split::kLeft : Split::kRight;
  }

 private:
  template <class Weight>
  static std::vector<std::size_t> find_order(const FeatureBins& bins,
                                             const std::vector<double>& sums, std::size_t slots,
                                             const Weight& weight) {
    std::vector<std::size_t> order;
    if (bins.ordered()) {
      order.resize(static_cast<std::size_t>(bins.bins()));
      std::iota(order.begin(), order.end(), std::size_t{0});
      return order;
    }
    std::vector<double> total(slots, 0.0);
    for (std::size_t b = 0; b < static_cast<std::size_t>(bins.width()); ++b) {
      if (weight(b) > 0.0) order.push_back(b);
      for (std::size_t k = 0; k < slots; ++k) total[k] += sums[b * slots + k];
    }
    const auto heaviest =
        static_cast<std::size_t>(std::max_element(total.begin(), total.end()) - total.begin());
    const auto share = [&](std::size_t b) { return sums[b * slots + heaviest] / weight(b); };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return share(a) < share(b); });
    return order;
  }
};

struct Leaf {
  std::size_t node = 0;
  std::size_t depth = 0;
  std::vector<std::uint32_t> rows;
  std::size_t feature = 0;
  double saving = 0.0;
  std::optional<VoteSplit> split;  // if any saves something
};

void find_split(const Voters& voters, const double* sums, std::size_t depth, Leaf& leaf,
                Team& team) {
  const double unsplit = voters.vote().cost(sums);
  if (leaf.depth >= depth || !(unsplit > 0.0)) return;
  const std::size_t features = voters.bins().size();
  std::vector<std::optional<VoteSplit>> splits(features);
  team.for_each(features, 2.0 * static_cast<double>(features * leaf.rows.size()),
                [&](std::size_t f) {
                  splits[f].emplace(voters.bins()[f], add_up(voters, leaf.rows, f), voters.vote());
                });
  std::vector<double> costs;
  for (const auto& split : splits) costs.push_back(split->cost);
  const std::size_t best = first_best(costs.data(), costs.size());
  leaf.saving = unsplit - costs[best];
  if (!(leaf.saving > kTie * unsplit)) return;
  leaf.feature = best;
  leaf.split = splits[best];
}

}  // namespace

VoteTree grow(const Voters& voters, std::size_t leaves, std::size_t depth,
              const std::function<void()>& progress, Team& team) {
  const std::size_t slots = voters.vote().slots();
  VoteTree grown;
  const auto add_leaf = [&](std::vector<std::uint32_t> rows, std::size_t its_depth) {
    Leaf leaf;
    leaf.node = grown.tree.size();
    leaf.depth = its_depth;
    leaf.rows = std::move(rows);
    grown.tree.add_leaf(Cell{});
    std::vector<double> sums(slots, 0.0);
    for (const std::uint32_t i : leaf.rows) sums[voters.slot(i)] += voters.weight(i);
    grown.sums.insert(grown.sums.end(), sums.begin(), sums.end());
    find_split(voters, sums.data(), depth, leaf, team);
    return leaf;
  };
  std::vector<Leaf> waiting{add_leaf(voters.rows(), 0)};
  for (std::size_t made = 1; made < leaves; ++made) {
    progress();
    auto best = waiting.end();
    for (auto leaf = waiting.begin(); leaf != waiting.end(); ++leaf) {
      if (leaf->split && (best == waiting.end() || leaf->saving > best->saving)) best = leaf;
    }
    if (best == waiting.end()) break;
    const Leaf parent = std::move(*best);
    waiting.erase(best);
    Tree& tree = grown.tree;
    tree.feature[parent.node] = static_cast<std::int32_t>(parent.feature);
    tree.left[parent.node] = static_cast<std::int64_t>(tree.size());
    tree.saving[parent.node] = parent.saving;
    const CellOfCode& side = parent.split->side;
    for (std::size_t b = 0; b < static_cast<std::size_t>(voters.bins()[parent.feature].width());
         ++b) {
      if (side[b] == Split::kLeft) tree.goes_left[parent.node].insert(b);
      if (side[b] == Split::kRight) tree.goes_right[parent.node].insert(b);
    }
    const std::uint8_t* const code = voters.codes().feature(parent.feature);
    std::array<std::vector<std::uint32_t>, 2> rows;
    for (const std::uint32_t i : parent.rows) {
      rows[side[code[i]] == Split::kLeft ? 0 : 1].push_back(i);
    }
    for (auto& its_rows : rows) waiting.push_back(add_leaf(std::move(its_rows), parent.depth + 1));
  }
  return grown;
}

}  // namespace properboost
