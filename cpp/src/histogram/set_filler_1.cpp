// The kernels of batches of 1 lane.
#include "properboost/histogram/row_filler.hpp"

namespace properboost {

template std::unique_ptr<SetFiller> make_set_filler<1>(const FilledRows&, bool);

}  // namespace properboost
