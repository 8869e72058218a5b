#include "properboost/ensemble/ensemble.hpp"

namespace properboost {

void Rounds::push_back(std::int32_t of_feature, double its_cost, double its_step, double its_risk,
                       const double* table, std::size_t width, const Tree& tree,
                       const NodeLines& of_nodes, double its_proposed, double its_taken) {
  feature.push_back(of_feature);
  cost.push_back(its_cost);
  step.push_back(its_step);
  risk.push_back(its_risk);
  proposed.push_back(its_proposed);
  taken.push_back(its_taken);
  values.insert(values.end(), table, table + width);
  offsets.push_back(static_cast<std::int64_t>(values.size()));
  trees.append(tree);
  lines.append(of_nodes);
}

Rounds Rounds::from(std::size_t t) const {
  Rounds rest;
  const auto take = [](const auto& column, std::int64_t begin, auto& to) {
    to.assign(column.begin() + begin, column.end());
  };
  const auto first = static_cast<std::int64_t>(t);
  take(feature, first, rest.feature);
  take(cost, first, rest.cost);
  take(step, first, rest.step);
  take(risk, first, rest.risk);
  take(proposed, first, rest.proposed);
  take(taken, first, rest.taken);
  take(values, offsets[t], rest.values);
  take(offsets, first, rest.offsets);
  for (std::int64_t& offset : rest.offsets) offset -= offsets[t];
  const auto begin = static_cast<std::size_t>(offsets[t]);
  if (trees.size() > 0) rest.trees = trees.part(begin, values.size());
  if (!lines.empty()) rest.lines = lines.part(begin, values.size());
  return rest;
}

void Rounds::resize(std::size_t n) {
  feature.resize(n);
  cost.resize(n);
  step.resize(n);
  risk.resize(n);
  proposed.resize(n);
  taken.resize(n);
  offsets.resize(n + 1);
  values.resize(static_cast<std::size_t>(offsets.back()));
  if (trees.size() > 0) trees.resize(values.size());
  if (!lines.empty()) lines.resize(values.size());
}

}  // namespace properboost
