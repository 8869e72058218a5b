# cython: language_level=3, boundscheck=False, cdivision=True, autotestdict=False
"""Losses written in Cython: TangentBoost's, which `properboost.losses.Tangent` trains with.

A custom loss is written the same way, `cimport`-ing the signature from here::

    from properboost.native_losses cimport margin_function

and passed by its name::

    weight = scipy.LowLevelCallable.from_cython(module, "my_weight")
    loss = properboost.losses.from_functions(weight, name="mine")
"""

from libc.math cimport atan, fabsf


# Literals are double in C, and a loop of both precisions is half as wide.
cdef inline float single(double x) noexcept nogil:
    return <float> x


cdef inline float arctan(float x) noexcept nogil:
    """The arc tangent within 4 ulp: without a branch or a call, so that loops become vectors."""
    cdef float size = fabsf(x)
    cdef float t = single(1) / size if size > single(1) else size
    cdef float s = t * t
    # atan(t) / t in t^2, minimax on [0, 1] for the relative error, 1.5e-8
    cdef float p = single(0.0028498894535005093)
    p = single(-0.016068629920482635) + s * p
    p = single(0.04269152507185936) + s * p
    p = single(-0.0750429555773735) + s * p
    p = single(0.10640934854745865) + s * p
    p = single(-0.14203645288944244) + s * p
    p = single(0.1999261975288391) + s * p
    p = single(-0.3333307206630707) + s * p
    p = t + t * (s * p)
    cdef float angle = single(1.5707963267948966) - p if size > single(1) else p
    return -angle if x < single(0) else angle


cdef inline float margin_left(float u) noexcept nogil:
    """1 - 2 atan u, 0 where it turns negative."""
    cdef float left = single(1) - single(2) * arctan(u)
    return left if left > single(0) else single(0)


cdef void tangent_weight(const float* u, float* out, Py_ssize_t n, void* data) noexcept nogil:
    """4 (1 - 2 atan u) / (1 + u^2), 0 from tan(1/2) on, where it would turn negative."""
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = single(4) * margin_left(u[i]) / (single(1) + u[i] * u[i])


cdef void tangent_loss(const float* u, float* out, Py_ssize_t n, void* data) noexcept nogil:
    """(2 atan u - 1)^2, 0 from tan(1/2) on."""
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = margin_left(u[i]) * margin_left(u[i])


cdef double tangent_weight_at(double u) noexcept nogil:
    """The weight at one margin, before it is cut off: the raw loss's."""
    return 4.0 * (1.0 - 2.0 * atan(u)) / (1.0 + u * u)
