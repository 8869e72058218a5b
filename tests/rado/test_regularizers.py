"""The coefficients of SLOPE."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from properboost import rado


@given(q=st.floats(1e-4, 0.999), d=st.integers(1, 200))
def test_slopes_coefficients(q, d):
    xi = rado.slope_coefficients(q, d)
    k = np.arange(1, d + 1)
    np.testing.assert_allclose(xi, norm.ppf(1 - k * q / (2 * d)), rtol=1e-6)
    assert np.all(np.diff(xi) < 0)
    assert xi[-1] > 0


@pytest.mark.parametrize(
    ("q", "d", "error", "message"),
    [
        (0.0, 3, ValueError, "q must be above 0 and below 1; got 0"),
        (1.0, 3, ValueError, "q must be above 0 and below 1; got 1"),
        (-1, 3, ValueError, "q must be between 0 and 1"),
        (5e-324, 3, ValueError, "q must be above 0 when divided by 2 n_columns, 6; got 5e-324"),
        (0.1, 0, ValueError, "n_columns must be at least 1; got 0"),
        (0.1, 2.0, TypeError, "n_columns must be an integer"),
    ],
)
def test_wrong_arguments_of_slopes_coefficients(q, d, error, message):
    with pytest.raises(error, match=message):
        rado.slope_coefficients(q, d)
