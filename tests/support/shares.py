"""Which share of many cases `make test` takes: the others have the mark `ci`, and are a step of `.ci/run`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def share(cases: Iterable[Any], one_in: int = 3, keep: int = 0) -> list[Any]:
    """Return all cases as parameters, of which one in so many, and the first `keep`, are taken by `make test`."""
    return [case if number % one_in == 0 or number < keep else _later(case) for number, case in enumerate(cases)]


def _later(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.ci)
