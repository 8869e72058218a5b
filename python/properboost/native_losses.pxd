"""What a loss written in Cython has: functions of a block of margins u = v / gain.

``margin_function`` is the signature that `properboost.losses.from_functions` takes through
`scipy.LowLevelCallable.from_cython`.  It is called in the engine's threads without the GIL.
"""

ctypedef void (*margin_function)(const float* u, float* out, Py_ssize_t n, void* data) noexcept nogil

cdef void tangent_weight(const float* u, float* out, Py_ssize_t n, void* data) noexcept nogil
cdef void tangent_loss(const float* u, float* out, Py_ssize_t n, void* data) noexcept nogil
cdef double tangent_weight_at(double u) noexcept nogil
