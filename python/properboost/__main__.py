"""``python -m properboost``: the command line."""

import sys

from properboost.cli.commands import main

sys.exit(main())
