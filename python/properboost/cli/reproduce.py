"""``properboost reproduce``: the papers' tables and figures, beside the published ones."""

import argparse

from properboost.cli.shared_arguments import misuse_if_wrong
from properboost.parameters import checks

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
ITEM is a paper, one of boostlr, savage, arboost, uls and rado, or one of its
tables and figures.  Data sets are looked for in the folder named by
PROPERBOOST_DATA, in the cache and in the UCI archive; LETTER is part of the
package, and missing sets are listed.  A run that was stopped continues if you
start it again with the same --output-dir.

examples:
  properboost reproduce --list
  properboost reproduce arboost/fig4 boostlr/table6
  properboost reproduce --quick --jobs 2
  properboost reproduce savage --seeds 20 --readings --output-dir results
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the items, and the extent of their computation."""
    parser.add_argument(
        "items", metavar="ITEM", nargs="*", help="papers, or papers/items (default: all)"
    )
    parser.add_argument("--list", action="store_true", help="list the items, and stop")
    parser.add_argument(
        "--seeds", metavar="N", type=int, help="repetitions (default: about 10, by item)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="2 repetitions, and small data sets where time matters"
    )
    parser.add_argument(
        "--readings",
        action="store_true",
        help="every reading of the details that a paper leaves open",
    )
    parser.add_argument(
        "--output-dir",
        metavar="FOLDER",
        default="out/papers",
        help="folder of the results, which are replaced (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        dest="n_jobs",
        type=int,
        default=1,
        help="processes (default: %(default)s)",
    )


def run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Compute the items, or list them."""
    from properboost.reproduce.catalogue import find_items
    from properboost.reproduce.run import reproduce

    with misuse_if_wrong(parser):
        items = find_items(arguments.items)
        for name in ("seeds", "n_jobs"):
            if getattr(arguments, name) is not None:
                checks.integer(name, getattr(arguments, name), 1)
    if arguments.list:
        for name, item in items.items():
            seconds = item.experiment.seconds * item.experiment.seeds
            print(f"{name:<18}{seconds:>7.0f} s  {item.title}")
        return
    reproduce(
        arguments.items,
        seeds=arguments.seeds,
        quick=arguments.quick,
        readings=arguments.readings,
        output_dir=arguments.output_dir,
        n_jobs=arguments.n_jobs,
    )
