"""Log-odds of shares."""

import numpy as np
import pytest

from properboost.report.log_odds import find_log_odds


def test_log_odds_are_finite():
    found = find_log_odds(np.array([0.0, 0.25, 0.5, 1.0]))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[1:3], [-np.log(3.0), 0.0])
    assert float(find_log_odds(0.75)) == pytest.approx(np.log(3.0))
