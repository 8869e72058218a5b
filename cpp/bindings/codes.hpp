// Borrowing codes, sorted by segment, and reading the roles of segments.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/roles.hpp"
#include "sparse.hpp"

namespace properboost::bindings {

// The bounds of segments that hold `rows` rows.
inline std::vector<std::size_t> read_segments(const Array<std::int64_t>& segments,
                                              std::size_t rows) {
  std::vector<std::size_t> bounds;
  for (py::ssize_t k = 0; k < segments.size(); ++k) {
    const auto offset = static_cast<std::size_t>(segments.at(k));
    if (k == 0 ? offset != 0 : offset < bounds.back()) {
      throw py::value_error("segments must ascend from 0");
    }
    bounds.push_back(offset);
  }
  if (bounds.size() < 2 || bounds.back() != rows) {
    throw py::value_error("segments must end at the number of rows");
  }
  return bounds;
}

inline Codes borrow_codes(const Array<std::uint8_t>& codes, const Array<std::int64_t>& segments,
                          const Bins& bins, bool may_be_empty = false) {
  if (codes.ndim() != 2 || static_cast<std::size_t>(codes.shape(0)) != bins.size()) {
    throw py::value_error("codes must have shape (n_features, n_rows)");
  }
  if (bins.size() == 0 || (codes.shape(1) == 0 && !may_be_empty)) {
    throw py::value_error("codes must not be empty");
  }
  const auto rows = static_cast<std::size_t>(codes.shape(1));
  return {codes.data(), rows, read_segments(segments, rows)};
}

// The same of codes of which features may be sparse.
inline Codes borrow_codes(const AnyCodes& codes, const Array<std::int64_t>& segments,
                          const Bins& bins, bool may_be_empty = false) {
  const auto* const sparse = std::get_if<std::shared_ptr<const PySparseCodes>>(&codes);
  if (sparse == nullptr) {
    return borrow_codes(std::get<Array<std::uint8_t>>(codes), segments, bins, may_be_empty);
  }
  if (!*sparse) throw py::type_error("codes must be codes; got None");
  Codes borrowed = (*sparse)->borrow();
  if ((*sparse)->features() != bins.size() || bins.size() == 0 ||
      (borrowed.rows == 0 && !may_be_empty)) {
    throw py::value_error("codes must be of rows, and of the features of the bins");
  }
  borrowed.segments = read_segments(segments, borrowed.rows);
  return borrowed;
}

inline void check_codes(const Codes& codes, const Bins& bins, Team& team) {
  if (!properboost::are_below_widths(codes, bins, team)) {
    throw std::invalid_argument("codes must be below their feature's width");
  }
}

// The roles of n segments in a model; at least one must be trained on.
inline std::vector<Role> to_roles(const std::int8_t* roles, std::size_t n) {
  std::vector<Role> result;
  bool learning = false;
  for (std::size_t s = 0; s < n; ++s) {
    if (roles[s] < -2 || roles[s] > 2) throw py::value_error("roles must be between -2 and 2");
    result.push_back(static_cast<Role>(roles[s]));
    learning = learning || learns(result.back());
  }
  if (!learning) throw py::value_error("every model must have training rows");
  return result;
}

}  // namespace properboost::bindings
