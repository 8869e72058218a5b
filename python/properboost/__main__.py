"""``python -m properboost``: the command line."""

import sys

from properboost.cli import main

sys.exit(main())
