"""Test the display of progress in notebooks."""

import sys
import types

import pytest

import properboost as pb


class Notebook:
    """A kernel that remembers what its displays showed."""

    def __init__(self, monkeypatch):
        self.outputs = []
        ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
        display.display = self._display
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def _display(self, data, *, raw, display_id):
        assert raw
        assert display_id
        lines = [data["text/plain"]]
        self.outputs.append(lines)
        return types.SimpleNamespace(update=lambda data, raw: lines.append(data["text/plain"]))


@pytest.mark.parametrize("bar", [True, False])
def test_progress_is_one_line_of_a_notebook(bar, binary, capsys, monkeypatch):
    if bar:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    notebook = Notebook(monkeypatch)
    pb.ProperBoostClassifier(n_estimators=4, verbose=1, weak_learner="table").fit(*binary)
    pb.ProperBoostClassifierCV(effort=1, max_estimators=4, verbose=1).fit(*binary)
    assert capsys.readouterr() == ("", "")
    assert len(notebook.outputs) == 2
    for lines in notebook.outputs:
        assert not {"\r", "\n"} & set("".join(lines))
    assert "4/4" in notebook.outputs[0][-1]
    assert notebook.outputs[1][-1].startswith("100%")
    assert notebook.outputs[1][-1].endswith("done")


def test_a_shell_of_ipython_is_no_notebook(binary, capsys, monkeypatch):
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    pb.ProperBoostClassifier(n_estimators=4, verbose=1, weak_learner="table").fit(*binary)
    assert "4/4" in capsys.readouterr().err
