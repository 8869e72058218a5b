// Binning: the code of a value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace properboost {

class EdgeSearch;
class Team;
struct RowOrder;
struct SparseTable;
struct Table;

constexpr int kMaxCodes = 256;  // a code is one byte

// The layout of the cells of a pair of features: [row][column].  The first `ordered` rows or
// columns are neighbours in their order; others have no neighbours.
struct Grid {
  int rows = 0, columns = 0;
  int ordered_rows = 0, ordered_columns = 0;
};

// How one feature is cut.  Numeric: code(x) is the number of edges below x; one code more is
// missing.  Categorical: the table already holds bins; codes after the last are missing, then
// unseen.  A grid is categorical: its cells are the categories.
class FeatureBins {
 public:
  // Numeric; edges ascend.  So do the means of its bins, if models are to be linear in them.
  explicit FeatureBins(const std::vector<double>& edges, const std::vector<double>& means = {});
  explicit FeatureBins(int categories);  // categorical
  explicit FeatureBins(const Grid& grid);

  bool ordered() const noexcept { return ordered_; }
  int bins() const noexcept { return bins_; }
  int missing() const noexcept { return bins_; }
  int width() const noexcept { return bins_ + (ordered_ ? 1 : 2); }
  const Grid& grid() const noexcept { return grid_; }  // without rows if it is not a grid
  bool is_grid() const noexcept { return grid_.rows > 0; }
  // A grid's rows (0) or columns (1), as bins: neighbours and missing values, or categories.
  const FeatureBins& levels(std::size_t axis) const noexcept { return (*levels_)[axis]; }
  // Where each code's mean is between the smallest, 0, and the largest, 1; NaN for codes without.
  // Null if there are no means, or all are the same.
  const double* positions() const noexcept { return positions_ ? positions_->data() : nullptr; }

  // codes[i] = the code of x[i].
  template <class Value>
  void encode(const Value* x, std::size_t n, std::uint8_t* codes) const;

 private:
  bool ordered_;
  int bins_;
  Grid grid_;
  std::shared_ptr<const std::vector<FeatureBins>> levels_;
  std::shared_ptr<const EdgeSearch> search_;  // of a numeric feature
  std::shared_ptr<const std::array<double, kMaxCodes>> positions_;
};

class Bins {
 public:
  explicit Bins(std::vector<FeatureBins> features);

  std::size_t size() const noexcept { return features_.size(); }
  const FeatureBins& operator[](std::size_t f) const noexcept { return features_[f]; }
  std::vector<std::size_t> all_features() const;
  std::size_t offset(std::size_t f) const noexcept { return offsets_[f]; }  // features side by side
  std::size_t total_width() const noexcept { return offsets_.back(); }

  // Codes of n rows, feature-major: codes[f * n + i] is row order[i]'s.
  void encode(const Table& table, RowOrder order, std::size_t n, std::uint8_t* codes,
              Team& team) const;
  // Codes of the entries of a sparse table, and of 0 in each column.
  void encode(const SparseTable& table, std::uint8_t* codes, std::uint8_t* of_zero,
              Team& team) const;

 private:
  std::vector<FeatureBins> features_;
  std::vector<std::size_t> offsets_;
};

}  // namespace properboost
