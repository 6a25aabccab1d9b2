"""The tests that take long alone, by a measurement: `make test` leaves them to the step `ci` of `.ci/run`.

`pytest -n 0 -p tests.support.slow_tests` measures them anew, where tests/slow_tests.txt is empty, and writes it: all of
half a second of processor time but the habits of the repository and the comparison of the search with brute force.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

SECONDS: Final = 0.45
LIST: Final = Path(__file__).parents[1] / "slow_tests.txt"
SLOW: Final = frozenset(LIST.read_text(encoding="utf-8").splitlines())
_QUICK_ANYHOW: Final = ("tests/repo/", "tests/agreement/test_random_robustness.py", "tests/cluster/")

_measured: dict[str, float] = {}


def _processor_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = _processor_seconds()
    yield
    _measured[item.nodeid] = _processor_seconds() - before


def pytest_sessionfinish() -> None:
    slow = (name for name, seconds in _measured.items() if seconds > SECONDS and not name.startswith(_QUICK_ANYHOW))
    LIST.write_text("".join(f"{name}\n" for name in sorted(slow)), encoding="utf-8")
