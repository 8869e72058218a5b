// How many threads the system would start now.  An OpenMP runtime that is refused a thread, or the
// memory for its own records, ends the process; so this is found out before it is asked.
#pragma once

#include <cstddef>

namespace properboost {

// Starts up to `wanted` threads at once, ends them again, and returns how many there were.
// Throws std::bad_alloc if there is no memory for what a runtime notes about them.  Between this
// and the use of what was found, others may take it.
int count_startable(int wanted);

}  // namespace properboost
