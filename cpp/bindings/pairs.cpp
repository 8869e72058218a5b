#include "pairs.hpp"

#include <pybind11/stl.h>

#include <algorithm>

#include "arrays.hpp"
#include "classes.hpp"
#include "reporter.hpp"

#include "properboost/core/parallel.hpp"

namespace properboost::bindings {
namespace {

FeaturePair make_pair(std::size_t first, std::size_t second, std::size_t cells,
                      const Array<std::uint16_t>& first_level,
                      const Array<std::uint16_t>& second_level) {
  if (cells < 1 || cells > kMaxCodes - 2) {
    throw py::value_error("a pair has 1 to 254 cells; got " + std::to_string(cells));
  }
  FeaturePair pair{first, second, cells, {}, {}};
  std::copy_n(borrow<std::uint16_t>(first_level, kMaxCodes, "first_level"), kMaxCodes,
              pair.first_level.begin());
  std::copy_n(borrow<std::uint16_t>(second_level, kMaxCodes, "second_level"), kMaxCodes,
              pair.second_level.begin());
  return pair;
}

void require_codes(const Array<std::uint8_t>& codes) {
  if (codes.ndim() != 2) throw py::value_error("codes must have shape (n_features, n_rows)");
}

py::array_t<std::uint8_t> encode(const std::vector<FeaturePair>& pairs,
                                 const Array<std::uint8_t>& codes, int n_threads) {
  require_codes(codes);
  for (const FeaturePair& pair : pairs) check_pair(pair, static_cast<std::size_t>(codes.shape(0)));
  const auto n = static_cast<std::size_t>(codes.shape(1));
  py::array_t<std::uint8_t> result({pairs.size(), n});
  std::uint8_t* const out = result.mutable_data();
  const std::uint8_t* const from = codes.data();
  run(n_threads, static_cast<double>(pairs.size() * n),
      [&](Team& team) { encode_pairs(pairs, from, n, out, team); });
  return result;
}

py::array_t<double> interactions(const Array<std::uint8_t>& levels, const Array<float>& gradient,
                                 const Array<float>& variance, double scale, int n_threads) {
  require_codes(levels);
  const auto features = static_cast<std::size_t>(levels.shape(0));
  const auto n = static_cast<std::size_t>(levels.shape(1));
  if (features < 2) throw py::value_error("levels must hold at least two features");
  const std::uint8_t* const from = levels.data();
  if (n > 0 && *std::max_element(from, from + features * n) >= kLevels) {
    throw py::value_error("levels must be below " + std::to_string(kLevels));
  }
  const float* const g = borrow<float>(gradient, n, "gradient");
  const float* const v = borrow<float>(variance, n, "variance");
  std::vector<Interaction> interactions;
  Reporter reporter;
  run(n_threads, static_cast<double>(features * features * n), [&](Team& team) {
    interactions =
        find_interactions(from, features, n, g, v, scale, [&] { reporter(0, 0.0); }, team);
  });
  py::array_t<double> result({std::size_t{2}, interactions.size()});
  for (std::size_t k = 0; k < interactions.size(); ++k) {
    result.mutable_at(0, k) = interactions[k].chi_square;
    result.mutable_at(1, k) = interactions[k].freedom;
  }
  return result;
}

}  // namespace
}  // namespace properboost::bindings

void bind_pairs(pybind11::module_& m) {
  namespace py = pybind11;
  using namespace py::literals;
  using namespace properboost;
  properboost::bindings::make_class<FeaturePair>(m, "Pair", "Two features taken as one.")
      .def(py::init(&bindings::make_pair), "first"_a, "second"_a, "cells"_a, "first_level"_a,
           "second_level"_a);
  m.def("encode_pairs", &bindings::encode, "pairs"_a, "codes"_a, "n_threads"_a = 1);
  m.def("find_interactions", &bindings::interactions, "levels"_a, "gradient"_a, "variance"_a,
        "scale"_a = 1.0, "n_threads"_a = 1);
}
