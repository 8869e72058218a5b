#include "properboost/joint/joint_loss.hpp"

#include "properboost/joint/registry.hpp"

namespace properboost {
namespace {

template <class Policy>
class Bound final : public JointLoss {
 public:
  explicit Bound(const Loss& loss) : policy_(loss) {}

  const char* name() const noexcept override { return Policy::name; }
  bool remembers_shifts() const noexcept override { return Policy::remembers_shifts; }
  void evaluate(const JointRows& rows) const override { policy_.evaluate(rows); }
  void log_probabilities(const double* scores, std::size_t classes, std::size_t n,
                         double* out) const noexcept override {
    policy_.log_probabilities(scores, classes, n, out);
  }
  void losses(const double* scores, std::size_t classes, std::size_t n, std::size_t true_class,
              double* out) const noexcept override {
    policy_.losses(scores, classes, n, true_class, out);
  }

 private:
  Policy policy_;
};

}  // namespace

std::shared_ptr<JointLoss> make_joint_loss(const std::string& name, const Loss& loss) {
  return joint::Builtins::make<JointLoss, Bound>("joint loss", name, loss);
}

std::vector<std::string> joint_loss_names() { return joint::Builtins::names(); }

}  // namespace properboost
