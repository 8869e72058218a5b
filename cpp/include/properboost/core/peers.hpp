// Processes that hold other rows of the same table, and run the same program on them.
//
// Each sum over rows includes theirs, so every process computes the same from it: sums are whole
// numbers, which have the same bits however rows are distributed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace properboost {

class Peers {
 public:
  virtual ~Peers() = default;
  // Each of the sums becomes that of all processes, and each of `most` the largest of theirs.  All
  // call this equally often, with as many numbers; it returns when all have.  May throw.
  virtual void all_reduce(std::vector<std::int64_t>& sums, std::vector<double>& most) = 0;
};

// Numbers that go to the peers, and come back, together.  Without peers they stay as they are.
class AllReduce {
 public:
  explicit AllReduce(Peers* peers) : peers_(peers) {}

  AllReduce& sum(std::int64_t& x) { return sum(&x, 1); }
  AllReduce& sum(std::int64_t* x, std::size_t n) { return add(sums_, x, n); }
  AllReduce& most(double& x) { return add(most_, &x, 1); }

  void run() {
    if (peers_ == nullptr || (sums_.empty() && most_.empty())) return;
    std::vector<std::int64_t> sums = read(sums_);
    std::vector<double> most = read(most_);
    peers_->all_reduce(sums, most);
    write(sums, sums_);
    write(most, most_);
  }

 private:
  template <class Number>
  struct Place {
    Number* first;
    std::size_t n;
  };
  template <class Number>
  using Places = std::vector<Place<Number>>;

  template <class Number>
  AllReduce& add(Places<Number>& places, Number* x, std::size_t n) {
    if (peers_ != nullptr) places.push_back({x, n});
    return *this;
  }
  template <class Number>
  static std::vector<Number> read(const Places<Number>& places) {
    std::vector<Number> all;
    for (const Place<Number>& place : places)
      all.insert(all.end(), place.first, place.first + place.n);
    return all;
  }
  template <class Number>
  static void write(const std::vector<Number>& all, const Places<Number>& places) {
    auto from = all.begin();
    for (const Place<Number>& place : places) {
      std::copy_n(from, place.n, place.first);
      from += static_cast<std::ptrdiff_t>(place.n);
    }
  }

  Peers* const peers_;
  Places<std::int64_t> sums_;
  Places<double> most_;
};

}  // namespace properboost
