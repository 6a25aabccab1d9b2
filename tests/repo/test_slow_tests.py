"""Every test that `make test` leaves out as slow is one that there is."""

from __future__ import annotations

from tests.conftest import ROOT
from tests.support.slow_tests import SLOW


def test_what_is_left_out_exists() -> None:
    for name in sorted(SLOW):
        path, _, test = name.partition("::")
        assert f"def {test.partition('[')[0]}(" in (ROOT / path).read_text(encoding="utf-8"), name
