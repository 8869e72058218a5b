// Trees that add up, and the sums for many rows or for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "properboost/data/binning.hpp"
#include "properboost/data/table.hpp"
#include "properboost/trees/node_lines.hpp"
#include "properboost/trees/tree.hpp"
#include "properboost/trees/tree_bits.hpp"

namespace properboost {

class Team;

// The nodes of all trees, one tree after the other, the value of each node and, if leaves have
// lines, these.
struct Forest {
  Tree nodes;
  std::vector<std::size_t> roots;  // of each tree, then the end
  std::vector<double> values;      // of each node
  NodeLines lines = {};
};

// Forests, one per model, made ready once for any number of tables.  The bins are borrowed.
class ForestScores {
 public:
  using Forests = std::vector<std::shared_ptr<const Forest>>;

  ForestScores(const Bins& bins, Forests forests);

  const Bins& bins() const noexcept { return bins_; }
  std::size_t models() const noexcept { return forests_.size(); }
  // An estimate of the time for `rows` rows on one thread.
  double nanoseconds(std::size_t rows) const noexcept;

  // out[row * models() + m] = sum over the trees of forest m of the value at the row's node and of
  // the node's line.
  void predict_raw(const Table& table, double* out, Team& team) const;
  // The same for rows of which the codes are known: codes[f * rows + row].
  void predict_raw(const std::uint8_t* codes, std::size_t rows, double* out, Team& team) const;

 private:
  struct Codes;
  // A tree as bits, and the values of its places, [place][model].
  struct Bits {
    TreeBits bits;
    std::vector<double> values;
  };
  struct ReadyTree {
    std::size_t root;
    Bits bits;
    // Splits may have codes on neither side: then `bits` are for rows that have none of these in
    // the columns where they may be, and `all` for any.
    std::optional<Bits> all;
    std::vector<std::size_t> columns;
  };
  // Models whose trees differ in their values alone.
  struct Group {
    std::vector<std::size_t> models;
    std::vector<ReadyTree> trees;
    bool has_lines;
  };

  // A term of a line: the positions of a feature's codes, and where in a tile these begin.
  struct Term {
    const double* positions;
    std::size_t begin;
    double slope, center;
  };

  std::vector<Term> make_terms(const NodeLines& lines) const;
  Group make_group(const std::vector<std::size_t>& models) const;
  void find_known_codes();
  // Calls fill(rows, columns of codes) for each tile of so many rows, and adds their trees up.
  template <class Fill>
  void add_tiles(std::size_t rows, const Fill& fill, double* out, Team& team) const;
  void mark_unknown(Codes& codes, std::size_t n) const;
  static const Bits& choose(const ReadyTree& tree, const Codes& codes);
  void add(const Group& group, const Codes& codes, std::size_t n, double* sums) const;
  void add_nodes(const Group& group, const std::size_t* nodes, const Codes& codes, std::size_t n,
                 double* sums) const;

  const Bins& bins_;
  Forests forests_;
  std::vector<std::size_t> used_;    // features
  std::vector<std::size_t> column_;  // of each feature's codes in a tile
  std::vector<std::size_t> known_;   // from this code of a feature on, some split has none
  std::vector<Group> groups_;
  std::vector<std::vector<Term>> terms_;  // of each forest's lines
  std::size_t trees_ = 0;
};

}  // namespace properboost
