// Sparse tables, and codes of which some features are sparse: the arrays, and what borrows them.
#pragma once

#include <memory>
#include <variant>

#include "arrays.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/sparse_table.hpp"

namespace properboost::bindings {

// The columns of a matrix in CSC format, of which each row has one entry at most in a column.
struct PySparseTable {
  std::size_t rows;
  Array<std::int64_t> starts;
  Array<std::int32_t> entry_rows;
  py::array values;
  SparseTable borrowed;
};

struct PySparseCodes {
  Array<std::uint8_t> dense;  // (n_dense, n_rows)
  Array<std::int64_t> place, starts;
  Array<std::int32_t> rows;
  Array<std::uint8_t> codes, common;

  std::size_t features() const noexcept { return static_cast<std::size_t>(place.size()); }
  std::size_t n_rows() const { return static_cast<std::size_t>(dense.shape(1)); }
  // Without segments.
  Codes borrow() const {
    return {dense.data(),
            n_rows(),
            {},
            {place.data(), starts.data(), rows.data(), codes.data(), common.data()}};
  }
};

// Codes of which features may be sparse, or not.
using AnyCodes = std::variant<std::shared_ptr<const PySparseCodes>, Array<std::uint8_t>>;

}  // namespace properboost::bindings

void bind_sparse(pybind11::module_& m);
