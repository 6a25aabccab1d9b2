"""One z3 solver for many questions, within limits of time and memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from rdma_robust.limits import Limits
from rdma_robust.solver_library import solver_library

_LOOKS_S: Final = 0.05
"""Between looks at the limits while z3 works."""

_KEYBOARD: Final = "interrupted from keyboard"


class SmtUndecidedError(Exception):
    """z3 does not know; the message is the reason that it gives."""


class SmtSolver:
    """Formulas, and executions of the program that they stand for. `z3` is the library, `added` counts formulas."""

    def __init__(self, limits: Limits) -> None:
        self.z3 = solver_library("smt")
        self._solver: Any = self.z3.SimpleSolver()
        self._solver.set("relevancy", 0)  # proofs that something holds take a quarter of the time
        self._limits = limits
        self._poll = limits.poll("writing formulas")
        self._names = 0
        self.added = 0
        self.calls = 0

    def add(self, *formulas: Any) -> None:
        """Say that these hold. Raises LimitReached."""
        self._poll()
        self.added += len(formulas)
        self._solver.add(*formulas)

    def truth(self, name: str) -> Any:
        """Return a new Boolean."""
        self._names += 1
        return self.z3.Bool(f"{name} #{self._names}")

    def named(self, name: str, formula: Any) -> Any:
        """Return a new Boolean that is what a formula is."""
        found = self.truth(name)
        self.add(found == formula)
        return found

    def model(self, *assumptions: Any) -> Any:
        """Return a model in which these Booleans are true, None if there is none. Raises LimitReached, UndecidedError."""
        self.calls += 1
        with self._watched() as interrupted:
            answer = self._solver.check(*assumptions)
        if interrupted and answer == self.z3.sat:
            self._limits.look("solving")  # the model may have come while z3 was being ended, and need not be whole
        if answer == self.z3.sat:
            return self._solver.model()
        if answer == self.z3.unsat:
            return None
        reason = self._solver.reason_unknown()
        if reason == _KEYBOARD:
            raise KeyboardInterrupt
        self._limits.look("solving")
        raise SmtUndecidedError(reason)

    @contextmanager
    def _watched(self) -> Iterator[list[str]]:
        """Interrupt z3 where a limit is reached: it works outside of Python, which can look meanwhile. Yields its limit."""
        reached: list[str] = []
        if self._limits.deadline is None and self._limits.memory is None:
            yield reached
            return
        self._limits.look("solving")
        over = threading.Event()

        def watch() -> None:
            while not over.wait(_LOOKS_S):
                if limit := self._limits.exceeded():
                    reached.append(limit)
                    self.z3.main_ctx().interrupt()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield reached
        finally:
            over.set()
            watcher.join()
