"""Losses by name."""

import pytest

from properboost.losses import Alpha, GGauss, GLog, Savage, get_loss


def test_get_loss():
    assert get_loss("glog") == GLog(1.0)
    assert get_loss("savage", 2) == Savage(2.0)
    assert get_loss("alpha", 2.0) == Alpha(0.25, 2.0)
    assert get_loss("alpha", 2.0, alpha=0.5) == Alpha(0.5, 2.0)
    loss = GGauss(3.0)
    for gain in (None, 3.0):
        assert get_loss(loss, gain) is loss


@pytest.mark.parametrize(
    ("arguments", "parameters", "error", "message"),
    [
        (("logistic",), {}, ValueError, "'tangent', or a loss object, such as .*; got 'logistic'"),
        ((GLog,), {}, TypeError, "such as GLog()"),
        ((None,), {}, TypeError, "got None"),
        ((GLog(2.0), 3.0), {}, ValueError, "gain=3.0 contradicts loss=GLog"),
        ((GLog(2.0), 1.0), {}, ValueError, "gain=1.0 contradicts loss=GLog"),
        ((GLog(2.0), -1.0), {}, ValueError, "gain must be above 0"),
        ((GLog(2.0),), {"alpha": 0.1}, ValueError, "carries its own parameters"),
        (("glog", 0.0), {}, ValueError, "gain must be above 0; got 0.0"),
        (("glog",), {"alpha": 0.1}, ValueError, "'glog' has no parameter 'alpha'; it takes none"),
        (("alpha",), {"beta": 0.1}, ValueError, "no parameter 'beta'; it takes .*alpha"),
        (("alpha",), {"alpha": 0.6}, ValueError, "alpha must be between 0 and 0.5; got 0.6"),
    ],
)
def test_errors_of_get_loss_name_the_fault(arguments, parameters, error, message):
    with pytest.raises(error, match=message):
        get_loss(*arguments, **parameters)
