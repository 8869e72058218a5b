"""Presets: the settings that their papers' methods are."""

import properboost as pb


def test_presets_are_settings():
    cases = {
        pb.AdaBoost: ("exponential", "stump", "sign", "line_search"),
        pb.RealBoost: ("exponential", "histogram", "real", "unit"),
        pb.LogitBoost: ("glog", "histogram", "newton", "unit"),
        pb.SavageBoost: ("savage", "histogram", "real", "guarded"),
        pb.ULS: (pb.losses.GBoost(gain=0.5), "stump", "sign", "leveraging"),
    }
    for preset, expected in cases.items():
        model = preset(n_estimators=7)
        assert isinstance(model, pb.ProperBoostClassifier)
        assert (model.loss, model.weak_learner, model.response, model.step) == expected
        assert model.n_estimators == 7
    assert pb.AdaBoost(step="unit").step == "unit"
