// Transposition: rows of a table that lie side by side, read column by column.
#pragma once

#include <cstddef>

namespace properboost {

// out[c * stride + i] = the value c of row[i].  A row need not be aligned.
void transpose(const char* const* row, std::size_t rows, std::size_t columns, std::size_t stride,
               float* out);
void transpose(const char* const* row, std::size_t rows, std::size_t columns, std::size_t stride,
               double* out);

}  // namespace properboost
