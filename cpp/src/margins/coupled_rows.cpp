#include "properboost/margins/coupled_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "properboost/core/peers.hpp"
#include "properboost/histogram/row_sums.hpp"

namespace properboost {
namespace {

// So few rows at a time that a strip's data stay in the second cache.
std::size_t rows_of_strip(std::size_t classes) {
  constexpr std::size_t kNumbers = 16'384;
  return std::clamp<std::size_t>(kNumbers / classes / 16 * 16, 16, 1'024);
}

}  // namespace

CoupledRows::CoupledRows(const TrainingRows& training_rows,
                         std::vector<const std::vector<Role>*> lane_roles, const Loss& loss_of_all,
                         const Coupling& coupling, double share_of_way, bool with_curvature)
    : rows(training_rows),
      codes(rows.codes),
      sample_weight(rows.sample_weight),
      labels(rows.labels),
      classes(coupling.classes),
      roles(std::move(lane_roles)),
      loss(loss_of_all),
      joint(make_joint_loss(coupling.joint_loss, loss)),
      share(share_of_way),
      needs_curvature(with_curvature),
      most_rows(rows_of_strip(coupling.classes)),
      total_weight(rows.totals.all),
      most_sample_weight(rows.totals.most) {
  const std::size_t segments = codes.segments.size() - 1;
  std::vector<std::size_t> class_of(segments, 0);  // of the rows of a segment with a role
  for (std::size_t s = 0; s < segments; ++s) {
    if (learns(role(0, s))) training_weight += rows.totals.of_segment[s];
    for (std::size_t k = 0; k < classes; ++k) {
      if (sign_of(role(k, s)) > 0.0) class_of[s] = k;
    }
  }
  const auto alike = [&](std::size_t a, std::size_t b) {
    return class_of[a] == class_of[b] && role(0, a) == role(0, b);
  };
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::array<std::size_t, 2> last{kNone, kNone};  // of the strips of rows held out, and to train on
  for (const RowBlock& block : cut_into_row_blocks(codes.segments, alike, most_rows)) {
    if (role(0, block.segment) == Role::kNone) continue;
    blocks.push_back(block);
    const std::size_t segment_class = class_of[block.segment];
    const bool trains = learns(role(0, block.segment));
    const std::size_t more = block.end - block.begin;
    std::size_t& place = last[trains ? 1 : 0];
    if (place == kNone || strips[place].of_class != segment_class ||
        strips[place].rows + more > most_rows) {
      place = strips.size();
      strips.push_back({segment_class, trains});
    }
    StripRows& strip = strips[place];
    strip.pieces.push_back({block.begin, more, strip.rows});
    strip.rows += more;
  }
  constexpr std::size_t kRowsOfPart = 1'024;  // for sums of every class
  std::size_t of_part = kRowsOfPart;
  for (std::size_t c = 0; c < strips.size(); ++c) {
    if (of_part >= kRowsOfPart) {
      parts.push_back(c);
      of_part = 0;
    }
    of_part += strips[c].rows;
  }
  parts.push_back(strips.size());
}

TermBounds CoupledRows::bounds_ahead(float largest_score, double farthest) const {
  const auto k = static_cast<double>(classes);
  const double least = -wide(largest_score) - farthest;
  return {1.0,  // a probability
          (k - 1.0) / k / share * loss.most_curvature(0.0), 2.0 * k * loss.most_loss(least)};
}

TermBounds reduce_largest(const std::vector<TermBounds>& blocks, const TermBounds& before,
                          bool has_curvature, bool has_loss, AllReduce all_reduce) {
  TermBounds all{0.0, has_curvature ? 0.0 : before.curvature, has_loss ? 0.0 : before.loss};
  for (const TermBounds& block : blocks) {
    all.weight = std::max(all.weight, block.weight);
    if (has_curvature) all.curvature = std::max(all.curvature, block.curvature);
    if (has_loss) all.loss = std::max(all.loss, block.loss);
  }
  all_reduce.most(all.weight).most(all.curvature).most(all.loss).run();
  return all;
}

}  // namespace properboost
