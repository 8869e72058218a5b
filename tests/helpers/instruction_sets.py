"""Helpers to run the engine under other instruction sets than the one it chose."""

import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

from properboost import _core


def other_sets():
    """Return the instruction sets of this processor below the one in use."""
    below = {"avx512": ["avx2", "baseline"], "avx2": ["baseline"], "baseline": []}
    return below[_core.instruction_set]


def run_with(instruction_set, program, data):
    """Run a program on the engine and `data` under another instruction set; return its `result`.

    The process loads the engine alone, because the package takes a second.
    """
    load = "import pickle, sys; sys.path.append(sys.argv[1]); import _core; import numpy as np\n"
    end = "sys.stdout.buffer.write(pickle.dumps([_core.instruction_set, result]))"
    done = subprocess.run(
        [sys.executable, "-c", f"{load}data = pickle.load(sys.stdin.buffer)\n{program}\n{end}",
         str(Path(_core.__file__).parent)],
        env=os.environ | {"PROPERBOOST_INSTRUCTION_SET": instruction_set},
        input=pickle.dumps(data), capture_output=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    name, result = pickle.load(io.BytesIO(done.stdout))
    assert name == instruction_set
    return result


def assert_same_in_all_sets(program):
    """Run a program in all instruction sets of the processor, and compare its `result`."""
    here = {}
    exec(program, here)
    for other in other_sets():
        environment = os.environ | {
            "PROPERBOOST_INSTRUCTION_SET": other,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        command = [sys.executable, "-c", f"{program}\nprint(_core.instruction_set, result)"]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=300
        )
        assert done.stdout.split() == [other, here["result"]]


def load_with(instruction_set):
    """Load the engine alone under an instruction set; return the ended process."""
    return subprocess.run(
        [sys.executable, "-c", "import sys; sys.path.append(sys.argv[1]); import _core",
         str(Path(_core.__file__).parent)],
        env=os.environ | {"PROPERBOOST_INSTRUCTION_SET": instruction_set},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
