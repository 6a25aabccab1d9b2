"""Mutation check: every rule for store buffers, completions and weaker orders, when off, is seen by a program kept here."""

from __future__ import annotations

import pytest

from tests.support.deployed_mutations import FOLDER, MUTATIONS, REDUNDANT, caught
from tests.support.random_deployed import loaded


@pytest.mark.parametrize("name", MUTATIONS)
def test_switching_a_rule_off_is_noticed(name: str) -> None:
    """But for those listed as possibly redundant, for which there is no program."""
    path = FOLDER / f"{name}.rdma"
    assert path.exists() == (name not in REDUNDANT)
    if path.exists():
        assert caught(name, *loaded(path.read_text(encoding="utf-8"), path.name))
