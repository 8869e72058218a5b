// Processes that hold other rows of the same table, and run the same program on them.
//
// What is summed over rows is summed over theirs as well, and so is all that follows from it the
// same in all of them: sums are whole numbers, which have the same bits however rows are dealt.
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
  virtual void share(std::vector<std::int64_t>& sums, std::vector<double>& most) = 0;
};

// Numbers that go to the peers, and come back, together.  Without peers they stay as they are.
class Share {
 public:
  explicit Share(Peers* peers) : peers_(peers) {}

  Share& sum(std::int64_t& x) { return sum(&x, 1); }
  Share& sum(std::int64_t* x, std::size_t n) { return add(sums_, x, n); }
  Share& most(double& x) { return add(most_, &x, 1); }

  void go() {
    if (peers_ == nullptr || (sums_.empty() && most_.empty())) return;
    std::vector<std::int64_t> sums = read(sums_);
    std::vector<double> most = read(most_);
    peers_->share(sums, most);
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
  Share& add(Places<Number>& places, Number* x, std::size_t n) {
    if (peers_ != nullptr) places.push_back({x, n});
    return *this;
  }
  template <class Number>
  static std::vector<Number> read(const Places<Number>& places) {
    std::vector<Number> all;
    for (const Place<Number>& own : places) all.insert(all.end(), own.first, own.first + own.n);
    return all;
  }
  template <class Number>
  static void write(const std::vector<Number>& all, const Places<Number>& places) {
    auto from = all.begin();
    for (const Place<Number>& own : places) {
      std::copy_n(from, own.n, own.first);
      from += static_cast<std::ptrdiff_t>(own.n);
    }
  }

  Peers* const peers_;
  Places<std::int64_t> sums_;
  Places<double> most_;
};

}  // namespace properboost
