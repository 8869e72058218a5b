// The processor's own instructions, for kernels that compilers do not make from a loop.  Only the
// source files of such kernels include it, and no header does.
#pragma once

#include "properboost/core/instruction_set.hpp"

#if PROPERBOOST_X86_SETS
// GCC 12 warns of the undefined registers its own intrinsics start from.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif
