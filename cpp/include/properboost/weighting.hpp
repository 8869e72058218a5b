// Weightings: how the weight of a row departs from the one its loss gives it.
#pragma once

namespace properboost {

struct Weighting {
  // A row of raw prediction F hears every weak classifier, and counts in its choice, by
  // e^(-damping |F|) (WeightBoost, Jin et al. 2003).
  double damping = 0.0;
  // A row's loss is that of its margin plus mistrust (sum over rounds of step x share)^2, its share
  // being that of the round's total weight (AdaBoost_reg, Raetsch et al. 1998): who was given much
  // weight, and still is wrong, is given less.
  double mistrust = 0.0;
};

}  // namespace properboost
