"""Every class of violations on small functions: what all interleavings show, and that each run of it can be run again."""

from __future__ import annotations

import pytest

from rdma_robust.contracts.rerun.confirming import confirmed
from rdma_robust.limits import NO_LIMITS
from tests.support.class_programs import class_programs
from tests.support.contracts_oracle.interleavings import by_interleavings, searched
from tests.support.shares import share


@pytest.mark.parametrize("name", share(class_programs(), 2))
def test_classes(name: str) -> None:
    program = class_programs()[name]
    loaded = program.loaded()
    for procs, shows in program.shows.items():
        found = searched(loaded, "f", procs, NO_LIMITS)
        assert (tuple(sorted(found.counterexamples)), list(found.reasons)) == (shows, []), procs
        for counterexample in found.counterexamples.values():
            confirmed(loaded, "f", counterexample)
    procs, shows = next(iter(program.shows.items()))
    assert by_interleavings(loaded, "f", procs, NO_LIMITS).verdict == ("VIOLATED" if shows else "VERIFIED")
