"""Deciding one small program loads nothing that it does not need; how long that takes is measured by bench/startup.py."""

from __future__ import annotations

from bench.startup import loaded_without_need


def test_no_slow_package_is_loaded_without_need() -> None:
    assert loaded_without_need() == []
