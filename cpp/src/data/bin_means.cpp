#include "properboost/data/bin_means.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "properboost/core/parallel.hpp"
#include "properboost/data/tiles.hpp"

namespace properboost {
namespace {

// The power of two by which weights are divided, so that products do not overflow.
double unit_of(double largest) {
  return largest > 0.0 ? std::ldexp(1.0, std::ilogb(largest) + 1) : 1.0;
}

double find_largest(RowSampleWeights weight, std::size_t n) {
  double largest = 0.0;
  for (std::size_t i = 0; !weight.all_ones() && i < n; ++i) {
    largest = std::max(largest, weight.stored(i));
  }
  return largest;
}

std::vector<std::size_t> list_ordered(const Bins& bins) {
  std::vector<std::size_t> ordered;
  for (std::size_t f = 0; f < bins.size(); ++f) {
    if (bins[f].ordered()) ordered.push_back(f);
  }
  return ordered;
}

// So few columns at a time that the digits in use of their sums stay in the cache.
std::vector<ColumnBlock> cut_into_narrow_blocks(const Table& table,
                                                const std::vector<std::size_t>& wanted) {
  constexpr std::size_t kColumns = 4;
  std::vector<ColumnBlock> narrow;
  for (const ColumnBlock& block : cut_into_column_blocks(table, wanted)) {
    for (std::size_t w = 0; w < block.wanted.size(); w += kColumns) {
      const auto begin = block.wanted.begin() + static_cast<std::ptrdiff_t>(w);
      const std::size_t n = std::min(kColumns, block.wanted.size() - w);
      const std::vector<std::size_t> wanted(begin, begin + static_cast<std::ptrdiff_t>(n));
      narrow.push_back({wanted.front(), wanted.back() - wanted.front() + 1, wanted});
    }
  }
  return narrow;
}

std::vector<BinSum> make_sums(const Bins& bins, std::size_t f) {
  return std::vector<BinSum>(static_cast<std::size_t>(bins[f].bins()));
}

// Adds the rows from `begin` to `end` of a block's columns to the sums of their bins.
void add_rows(const Table& table, const Bins& bins, const ColumnBlock& block, RowOrder order,
              std::size_t begin, std::size_t end, RowSampleWeights weight, double unit,
              const std::vector<BinSum*>& sums) {
  visit(table.columns[block.first].type, [&](auto zero) {
    using T = decltype(zero);
    std::array<ValueOf<T>, Tile::kColumns * Tile::kRows> x;
    std::array<std::uint8_t, Tile::kRows> codes;
    for (std::size_t at = begin; at < end; at += Tile::kRows) {
      const std::size_t n = std::min(Tile::kRows, end - at);
      read<T>(table, block, order, at, n, x.data());
      for (std::size_t w = 0; w < block.wanted.size(); ++w) {
        const ValueOf<T>* const values = x.data() + (block.wanted[w] - block.first) * Tile::kRows;
        bins[block.wanted[w]].encode(values, n, codes.data());
        for (std::size_t i = 0; i < n; ++i) {
          const auto value = static_cast<double>(values[i]);
          if (!std::isfinite(value)) continue;
          BinSum& bin = sums[w][codes[i]];
          if (weight.all_ones()) {
            bin.values.add(value);
            ++bin.rows;
          } else {
            const double share = weight.stored(at + i) / unit;
            bin.values.add(share * value);
            bin.weights.add(share);
          }
        }
      }
    }
  });
}

// Adds n rows of a block's columns to `sums`, which are by feature.
void add_block(const Table& table, const Bins& bins, const ColumnBlock& block, RowOrder order,
               std::size_t n, RowSampleWeights weight, double unit, Team& team,
               std::vector<std::vector<BinSum>>& sums) {
  const std::size_t parts = std::max<std::size_t>(1, std::min(team.size(), n / Tile::kRows));
  std::vector<std::vector<std::vector<BinSum>>> others(parts);  // the first part's are `sums`
  const double nanoseconds = 8.0 * static_cast<double>(n * block.wanted.size());
  team.for_each(parts, nanoseconds, [&](std::size_t part) {
    std::vector<BinSum*> part_sums;
    for (const std::size_t f : block.wanted) {
      if (part > 0) others[part].push_back(make_sums(bins, f));
      part_sums.push_back(part > 0 ? others[part].back().data() : sums[f].data());
    }
    add_rows(table, bins, block, order, n * part / parts, n * (part + 1) / parts, weight, unit,
             part_sums);
  });
  for (std::size_t part = 1; part < parts; ++part) {
    for (std::size_t w = 0; w < block.wanted.size(); ++w) {
      std::vector<BinSum>& all = sums[block.wanted[w]];
      for (std::size_t b = 0; b < all.size(); ++b) {
        all[b].values += others[part][w][b].values;
        all[b].weights += others[part][w][b].weights;
        all[b].rows += others[part][w][b].rows;
      }
    }
  }
}

// The means of bins that have any weight, and their neighbours' for others.
std::vector<double> find_means(const std::vector<BinSum>& sums) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  std::vector<double> means(sums.size(), 0.0);
  std::size_t done = 0;
  double last = 0.0;
  for (std::size_t b = 0; b < sums.size(); ++b) {
    ExactSum weight = sums[b].weights;
    weight.add(static_cast<double>(sums[b].rows));
    if (!weight.is_positive()) continue;
    const double mean = std::clamp(divide(sums[b].values, weight), -kLargest, kLargest);
    last = done == 0 ? mean : std::max(mean, last);
    if (done == 0) std::fill_n(means.begin(), b, last);
    std::fill(means.begin() + static_cast<std::ptrdiff_t>(b), means.end(), last);
    done = b + 1;
  }
  return means;
}

}  // namespace

std::vector<std::vector<double>> find_bin_means(const Table& table, const Bins& bins,
                                                RowOrder order, std::size_t n,
                                                RowSampleWeights weight, Team& team) {
  std::vector<std::vector<double>> means(bins.size());
  std::vector<std::vector<BinSum>> sums(bins.size());
  const double unit = unit_of(find_largest(weight, n));
  for (const ColumnBlock& block : cut_into_narrow_blocks(table, list_ordered(bins))) {
    for (const std::size_t f : block.wanted) sums[f] = make_sums(bins, f);
    add_block(table, bins, block, order, n, weight, unit, team, sums);
    for (const std::size_t f : block.wanted) {
      means[f] = find_means(sums[f]);
      sums[f] = {};
    }
  }
  return means;
}

BinSums::BinSums(const Bins& bins, double largest)
    : bins_(bins), unit_(unit_of(largest)), sums_(bins.size()) {
  for (const std::size_t f : list_ordered(bins)) sums_[f] = make_sums(bins, f);
}

void BinSums::add(const Table& table, RowOrder order, std::size_t n, RowSampleWeights weight,
                  Team& team) {
  for (const ColumnBlock& block : cut_into_narrow_blocks(table, list_ordered(bins_))) {
    add_block(table, bins_, block, order, n, weight, unit_, team, sums_);
  }
}

std::vector<std::vector<double>> BinSums::means() const {
  std::vector<std::vector<double>> means(sums_.size());
  for (const std::size_t f : list_ordered(bins_)) means[f] = find_means(sums_[f]);
  return means;
}

std::vector<std::int64_t> BinSums::digits() const {
  std::vector<std::int64_t> all;
  for (const std::vector<BinSum>& feature : sums_) {
    for (const BinSum& bin : feature) {
      bin.values.list(all);
      bin.weights.list(all);
      all.push_back(static_cast<std::int64_t>(bin.rows));
    }
  }
  return all;
}

void BinSums::add_digits(const std::vector<std::int64_t>& digits) {
  const std::int64_t* from = digits.data();
  for (std::vector<BinSum>& feature : sums_) {
    for (BinSum& bin : feature) {
      from = bin.values.add_listed(from);
      from = bin.weights.add_listed(from);
      bin.rows += static_cast<std::uint64_t>(*from++);
    }
  }
}

}  // namespace properboost
