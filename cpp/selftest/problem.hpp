// The data that all cases of the engine's work share: a table, its labels and its codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/roles.hpp"
#include "properboost/data/table.hpp"

namespace properboost::selftest {

constexpr std::size_t kClasses = 3;
constexpr std::size_t kFolds = 3;

// Rows of three classes in three folds, sorted by both; columns of several types, with missing
// values and categories, codes both few and many.
struct Problem {
  std::size_t rows;
  std::array<std::vector<double>, 3> numbers;
  std::array<std::vector<float>, 2> singles;
  std::vector<std::int16_t> counts;
  std::vector<std::uint8_t> levels;
  std::vector<std::int8_t> categories;
  std::vector<double> side_by_side;  // the same as `numbers`, row by row
  std::vector<double> weight, base;
  std::vector<std::uint8_t> positive;
  std::vector<std::size_t> segments{0};  // [class][fold]
  Table table, by_row;
  std::vector<std::vector<double>> edges;  // of the numeric features
  std::vector<FeatureBins> features;
  std::vector<std::uint8_t> codes;

  explicit Problem(std::size_t n);

  Bins bins() const { return Bins(features); }
  // The same with means of bins.
  Bins bins_with_means() const;
  Codes borrow() const { return {codes.data(), rows, segments}; }
  // The first class against the others; the rows of one fold are held out, or of none.
  static std::vector<Role> roles(std::size_t fold);
};

}  // namespace properboost::selftest
