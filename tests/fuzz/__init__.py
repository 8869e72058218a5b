"""Random inputs against invariants: ``make fuzz``, or ``python -m fuzz`` in ``tests/``.

A *kind* of input (`kinds`) draws cases by number, checks them, and yields smaller ones. Separate
workers check them (`workers`), so that a crash or a hang is a failure like any other. A failure is
shrunk (`shrink`) and printed as a test of a few lines.
"""
