// Edge search: between which bin edges of a feature a value lies.
//
// The count of edges below a value, by a search without branches, so that it takes as long for
// skewed and heavy-tailed columns as for even ones.  With AVX-512 the edges are a search tree in
// registers; elsewhere a table of cells gives the start of a binary search, of which few steps
// remain.  Both give the same codes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "properboost/core/aligned.hpp"

namespace properboost {

// A value as an unsigned integer of the same order.
inline std::uint32_t sort_key(float x) {
  std::uint32_t bits;
  x += 0.0f;  // -0 and +0 are one value
  std::memcpy(&bits, &x, sizeof bits);
  return bits ^ (static_cast<std::uint32_t>(-static_cast<std::int32_t>(bits >> 31)) | 0x8000'0000u);
}
inline std::uint64_t sort_key(double x) {
  std::uint64_t bits;
  x += 0.0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits ^ (static_cast<std::uint64_t>(-static_cast<std::int64_t>(bits >> 63)) |
                 (std::uint64_t{1} << 63));
}

class EdgeSearch {
 public:
  EdgeSearch() = default;
  explicit EdgeSearch(const std::vector<double>& edges);  // ascending, at most 254

  // codes[i] = edges below x[i]; `missing` for NaN.
  void encode(const float* x, std::size_t n, std::uint8_t missing, std::uint8_t* codes) const;
  void encode(const double* x, std::size_t n, std::uint8_t missing, std::uint8_t* codes) const;

 private:
  // A binary search tree of the edges as floats, filled up with +inf: level by level, each filled
  // up to a whole register, with its nodes in the order in which the kernel reads them.
  void plant(const std::vector<double>& edges);

  // Where a binary search begins, for values of type T.  The edges are divided into cells of equal
  // width, by value or, for columns whose scale varies, by sort key; the choice with the smaller
  // fullest cell is taken.
  template <class T>
  class Cells {
   public:
    void build(const std::vector<double>& edges);
    void encode(const T* x, std::size_t n, std::uint8_t missing, std::uint8_t* codes) const;

   private:
    using Key = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    static constexpr std::size_t kMostCells = 4096, kCellsPerEdge = 16;
    static constexpr std::size_t kRun = 128;

    std::uint32_t cell_by_value(T x) const;
    std::uint32_t cell_by_key(T x) const;
    template <int kSteps>
    void encode_run(const T* x, std::size_t n, std::uint8_t missing, std::uint8_t* codes) const;

    std::vector<T> edges_;             // padded with +inf for the last steps
    std::vector<std::uint8_t> first_;  // edges in the cells before each
    bool by_key_ = false;
    T low_ = 0, scale_ = 0, last_ = 0;  // of cells by value
    Key low_key_ = 0, high_key_ = 0;    // of cells by key: the edges' range
    int shift_ = 0;                     // key bits within a cell
    int steps_ = 0;                     // of the binary search within a cell
  };

  // The cells of one type of values, made when the first such value is searched, by the thread
  // that has it: few tables have both types, and there is one of these for every feature.
  template <class T>
  class MadeCells {
   public:
    const Cells<T>& of(const std::vector<double>& edges);

   private:
    std::mutex mutex_;
    std::unique_ptr<const Cells<T>> cells_;
    std::atomic<const Cells<T>*> made_{nullptr};
  };
  struct AllCells {
    const std::vector<double> edges;
    MadeCells<float> cells32 = {};
    MadeCells<double> cells64 = {};
  };

  int levels_ = 0;  // of the tree; 0 where cells are searched
  Aligned<float> nodes_;
  // A double is searched as the least float not below it, among edges rounded down; of the edges
  // found below it, the last `ambiguous_` may share a float with it and are compared again.
  Aligned<double> edges_;
  int ambiguous_ = 0;
  std::shared_ptr<AllCells> cells_;
};

}  // namespace properboost
