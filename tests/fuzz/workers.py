"""Processes that check cases: one that ends, hangs or takes too much memory is a failure."""

import contextlib
import io
import os
import pickle
import resource
import select
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from fuzz.kinds import KINDS
from fuzz.outcomes import BrokenInvariant, Outcome

__all__ = ["Bench", "Worker"]

SECONDS = 180.0
"""Seconds for a case; the slowest ordinary one takes a tenth."""

SECONDS_TO_END = 10.0
"""Seconds for a worker to end by itself."""

ADDRESSES = 16 * 2**30
"""Address space of a worker, in bytes; requests beyond it are refused.

A kind with `addresses` has that many.
"""

RESIDENT = 2**30
"""Bytes by which a case may raise the worker's peak of memory."""

SEVERAL_SETS = "every instruction set gives the same bits"
ENDED = "the process ends"
HANGS = "the call returns"
MEMORY = "memory is in proportion"
DRAWN = "an input is drawn"


class Worker:
    """Process that answers one request at a time."""

    def __init__(self, instruction_set: str | None = None, addresses: int = ADDRESSES) -> None:
        chosen = {} if instruction_set is None else {"PROPERBOOST_INSTRUCTION_SET": instruction_set}
        tests = str(Path(__file__).resolve().parents[1])
        path = os.pathsep.join(filter(None, [tests, os.environ.get("PYTHONPATH")]))
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 -- read when the worker ends
        self._process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-m", "fuzz.workers", str(addresses)],
            env=os.environ | {"OMP_NUM_THREADS": "2", "PYTHONPATH": path} | chosen,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr,
        )  # fmt: skip
        self.sets: list[str] = self._receive(SECONDS)

    def ask(self, *request: Any, seconds: float = SECONDS) -> Any:
        """Return the answer to a request, or raise the worker's exception or `BrokenInvariant`."""
        assert self._process.stdin is not None
        try:
            pickle.dump(request, self._process.stdin)
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer below shows how the worker ended
        answer = self._receive(seconds)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _receive(self, seconds: float) -> Any:
        stream = self._process.stdout
        assert stream is not None
        if not select.select([stream], [], [], seconds)[0]:
            self._process.kill()
            raise BrokenInvariant(
                HANGS, HANGS, f"no answer within {seconds:g} s\n{self._last_words()}"
            )
        try:
            return pickle.load(stream)
        except (EOFError, pickle.UnpicklingError):
            status = self._process.wait()
            message = f"exit status {status}\n{self._last_words()}"
            raise BrokenInvariant(ENDED, f"{ENDED}: {status}", message) from None

    def _last_words(self) -> str:
        self._process.wait()
        self._stderr.seek(0)
        words = self._stderr.read().decode(errors="replace")
        # Faulthandler prints the last lines of code.
        words = words.partition("Extension modules:")[0][-4000:]
        self.close()
        return words

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        try:
            # The worker ends without requests, and writes its coverage.
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Bench:
    """Workers for consecutive cases, one for each instruction set."""

    def __init__(self) -> None:
        self._workers: dict[tuple[str | None, int], Worker] = {}

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()

    def _worker(self, instruction_set: str | None = None, addresses: int = ADDRESSES) -> Worker:
        worker = self._workers.get((instruction_set, addresses))
        if worker is None or not worker.alive:
            worker = self._workers[instruction_set, addresses] = Worker(instruction_set, addresses)
        return worker

    def examine(
        self, kind: str, case: Any, *, only: str | None = None, sets: bool = False
    ) -> Outcome:
        """Check a case, or the case of a number; raise `BrokenInvariant`.

        With `sets` its digest is compared over the processor's instruction sets as well.
        """
        outcome = Outcome("fitted")
        if only != SEVERAL_SETS:
            everything = only in (None, ENDED, HANGS, MEMORY)
            worker = self._worker(addresses=getattr(KINDS[kind], "addresses", ADDRESSES))
            outcome = worker.ask("check", kind, case, None if everything else only)
        if sets and outcome.kind == "fitted":
            self._compare_sets(kind, case)
        return outcome

    def _compare_sets(self, kind: str, case: Any) -> None:
        one = self._worker()
        expected = one.ask("digest", kind, case)
        for name in one.sets:
            if self._worker(name).ask("digest", kind, case) != expected:
                raise BrokenInvariant(
                    SEVERAL_SETS, f"{SEVERAL_SETS}: {name}", f"{name} gives other bits"
                )


# -- in the worker --------------------------------------------------------------------------------


def serve(requests: Any, answers: Any) -> None:
    """Answer requests until there are none."""
    from helpers.instruction_sets import other_sets

    _send(answers, other_sets())
    while True:
        try:
            action, name, case, *rest = pickle.load(requests)
        except EOFError:
            return
        kind = KINDS[name]
        try:
            case = _draw(kind, case) if isinstance(case, int) else case
            before = _most_memory()
            answer = getattr(kind, action)(case, *rest)
            grown = _most_memory() - before
            if grown > RESIDENT:
                answer = BrokenInvariant(MEMORY, MEMORY, f"it took {grown / 2**20:.0f} MiB more")
        except BrokenInvariant as broken:
            answer = broken
        _send(answers, answer)


def _draw(kind: Any, seed: int) -> Any:
    """Return the case of a number; a failed draw is a failure, too."""
    try:
        return kind.draw(seed)
    except Exception as error:
        message = "".join(traceback.format_exception(error)[-3:])
        raise BrokenInvariant(
            DRAWN, f"{DRAWN}: {type(error).__name__}: {error}", message
        ) from error


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _send(answers: Any, answer: Any) -> None:
    whole = io.BytesIO()
    pickle.dump(answer, whole)
    answers.write(whole.getvalue())
    answers.flush()


def main() -> None:
    # Output of the package must not come among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
