"""The asv suite: one file per data set; asv imports this folder as a separate package."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks.lib`
