// Weightings: how the weight of a row departs from the one its loss gives it.
#pragma once

namespace properboost {

struct Weighting {
  // A row of raw prediction F hears every weak classifier, and counts in its choice, by
  // e^(-damping |F|) (WeightBoost, Jin et al. 2003).
  double damping = 0.0;
  // A row's loss is that of its margin plus mistrust x (sum of the steps) x influence^2, influence
  // being the mean, by the rounds' steps, of what the row weighed beside the mean row
  // (AdaBoost_reg, Raetsch, Onoda and Mueller 2001): who was given much weight, and still is wrong,
  // is given less.
  double mistrust = 0.0;
};

}  // namespace properboost
