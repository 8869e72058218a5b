// How many threads the system would start now.  An OpenMP runtime ends the process if it cannot get
// a thread, or memory for its records; so this is checked before the runtime starts any.
#pragma once

#include <cstddef>

namespace properboost {

// Starts up to `wanted` threads at once, ends them again, and returns how many there were.  Throws
// std::bad_alloc if there is no memory for a runtime's records of them.  Between this and the use
// of the answer, other processes may take the threads.
int count_startable(int wanted);

}  // namespace properboost
