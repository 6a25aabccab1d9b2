"""Mutation check: every consistency check of the instrumentation, when disabled, is seen by a program kept here."""

from __future__ import annotations

import pytest

from rdma_robust.language.load import load_program
from tests.support.compare import by, by_oracle
from tests.support.mutations import FOLDER, MUTATIONS, caught, mutated


@pytest.mark.parametrize("name", MUTATIONS)
def test_disabling_a_check_gives_a_wrong_verdict(name: str) -> None:
    text = (FOLDER / f"{name}.rdma").read_text()
    assert caught(name, text)


@pytest.mark.parametrize("name", ["polls-forced-by-nlw", "nlw-nf-nlr-rule", "oppo-of-nic-events"])
def test_the_paper_instrumentation_needs_the_shared_checks_too(name: str) -> None:
    program = load_program((FOLDER / f"{name}.rdma").read_text(), name)
    assert by("paper")(program, False) == by_oracle(program, False)
    with mutated(name):
        assert by("paper")(program, False) != by_oracle(program, False)
