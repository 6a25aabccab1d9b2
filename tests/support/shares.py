"""The shares of many cases: `make test` takes some, CI (the mark `ci`) half of the others, `make test-long` all."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle
from typing import Any

import pytest

LEFT_OUT: set[str] = set()
"""The marks that no test of this run has, as its `-m` says: of many tests that it leaves out, one is made."""


def share(cases: Iterable[Any], one_in: int = 3, keep: int = 0, *, whole: bool = False) -> list[Any]:
    """Return all cases as parameters, of which one in so many, and the first `keep`, are taken by `make test`.

    One in two of the others is taken by CI, and the rest by `make test-long`.
    A case that is a tuple has a value for each parameter, but not if it is `whole`.
    """
    shared: list[Any] = []
    marks = cycle((pytest.mark.ci, pytest.mark.long))
    for number, case in enumerate(cases):
        if number % one_in == 0 or number < keep:
            shared.append(case)
        else:
            values = case if isinstance(case, tuple) and not whole else (case,)
            shared.append(pytest.param(*values, marks=next(marks)))
    return shared


def chunks(ci: int, all_of_them: int) -> list[Any]:
    """Return the numbers of chunks of random programs: the first few have the mark `ci`, the others `long`."""
    made = min(ci + 1, all_of_them) if "long" in LEFT_OUT else all_of_them
    return [pytest.param(n, marks=pytest.mark.ci if n < ci else pytest.mark.long) for n in range(made)]
