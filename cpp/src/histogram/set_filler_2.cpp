// The kernels of batches of 2 lanes.
#include "properboost/histogram/row_filler.hpp"

namespace properboost {

template std::unique_ptr<SetFiller> make_set_filler<2>(const FilledRows&, bool);

}  // namespace properboost
