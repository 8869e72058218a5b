// The kernels of batches of 4 lanes.
#include "properboost/histogram/row_filler.hpp"

namespace properboost {

template std::unique_ptr<SetFiller> make_set_filler<4>(const FilledRows&, bool);

}  // namespace properboost
