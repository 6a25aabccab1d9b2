"""A limit of time reaches who is guarded, wherever its tick comes."""

from __future__ import annotations

import importlib
import sys
import time
import weakref
from pathlib import Path

import pytest

from rdma_robust.errors import LimitReached
from rdma_robust.guard import TICK_S, guarded_by
from rdma_robust.limits import Limits

LIMIT_S = 0.05
BEYOND_S = LIMIT_S + 10 * TICK_S
"""Seconds after which a limit that was forgotten is told."""


def spin(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


class SlowToGo:
    """An object in whose destructor a limit is reached; Python ignores what is raised there."""

    def __del__(self) -> None:
        spin(BEYOND_S)


def test_a_limit_that_is_reached_in_a_destructor_is_told_after_it() -> None:
    with pytest.raises(LimitReached), guarded_by(Limits.of(LIMIT_S)):
        SlowToGo()
        spin(10)


def test_a_limit_that_is_reached_in_what_a_weak_reference_calls_is_told_after_it() -> None:
    class Key:
        pass

    with pytest.raises(LimitReached), guarded_by(Limits.of(LIMIT_S)):
        key = Key()
        weakref.finalize(key, spin, BEYOND_S)
        del key
        spin(10)


def test_an_import_in_which_a_limit_is_reached_is_ended_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that was half imported could not be imported again."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "slow_to_come").mkdir()
    spinning = f"import time\nend = time.monotonic() + {BEYOND_S}\nwhile time.monotonic() < end:\n    pass\n"
    (tmp_path / "slow_to_come" / "__init__.py").write_text(f"from slow_to_come import inner\n{spinning}here = inner\n")
    (tmp_path / "slow_to_come" / "inner.py").write_text("")
    with pytest.raises(LimitReached, match="while loading modules"), guarded_by(Limits.of(LIMIT_S)):
        importlib.import_module("slow_to_come")
        spin(10)
    assert sys.modules["slow_to_come"].here is sys.modules["slow_to_come.inner"]
