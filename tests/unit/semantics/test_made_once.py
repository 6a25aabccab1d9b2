"""What is compiled or analysed of a program is made once, and goes with the program."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

import rdma_robust
from rdma_robust.errors import SizeLimitError
from rdma_robust.kept import Kept
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.semantics import values
from rdma_robust.semantics.machines import requests, threadcode
from rdma_robust.semantics.machines.chosen import machine_of, sc_machine_of
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.resting import RestTest
from rdma_robust.semantics.values import possible_values, value_flow

LITMUS = Path(__file__).parents[3] / "litmus"


def loaded(name: str) -> Program:
    path = LITMUS / f"{name}.rdma"
    return load_program(path.read_text(encoding="utf-8"), path.name)


def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[object]:
    """Return a count of what is made of which program from now on; the programs counted stay."""
    found: Counter[object] = Counter()
    stay: list[object] = []

    def count(module: Any, name: str, key: Callable[..., object]) -> None:
        make = getattr(module, name)

        def made(*args: Any, **options: Any) -> object:
            stay.append(args)
            found[key(*args, **options)] += 1
            return make(*args, **options)

        monkeypatch.setattr(module, name, made)

    def code(program: object, thread: object, _usage: object, *how: object, **options: object) -> object:
        return "code", id(program), id(thread), how, tuple(options.items())

    count(threadcode, "ThreadCode", code)
    count(threadcode, "CellUsage", lambda program: ("usage", id(program)))
    count(requests, "_Compiler", lambda program, thread, model: ("requests", id(program), id(thread), model))
    count(values, "_analysed", lambda program, _exceeded: ("values", id(program)))
    return found


@pytest.mark.parametrize("name", ["mailbox-plain", "mailbox-polled", "sb-put-polled", "handoff-lock-server"])
def test_verify_compiles_and_analyses_a_program_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = counted(monkeypatch)
    rdma_robust.verify(loaded(name))
    assert found and max(found.values()) == 1, found


def test_all_machines_of_a_program_share_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    program = loaded("mailbox-polled")
    found = counted(monkeypatch)
    for _ in range(3):
        machines = (machine_of(program), sc_machine_of(program), DeployedMachine(program))
        assert all(machine.codes is machines[0].codes for machine in machines)
        RestTest(program)
        assert possible_values(program) == dict(value_flow(program).cells)
    kinds = Counter(key[0] for key in found if isinstance(key, tuple))
    threads = len(program.threads)
    assert max(found.values()) == 1 and kinds == {"code": 2 * threads, "usage": 1, "requests": 2 * threads, "values": 1}


def test_another_question_compiles_again() -> None:
    program = loaded("mailbox-polled")
    watched = threadcode.Observables(frozenset({0}))
    assert machine_of(program).codes is not machine_of(program, watched=watched).codes
    assert machine_of(program, watched=watched).codes[0].stepwise


class Owner:
    pass


@pytest.mark.ci
def test_what_is_kept_goes_with_its_owner() -> None:
    kept: Kept[str, list[int]] = Kept()
    owner = Owner()
    first = kept.of(owner, "a", lambda: [1])
    assert kept.of(owner, "a", lambda: [2]) is first and kept.of(owner, "b", lambda: [3]) == [3]
    assert kept.of(Owner(), "a", lambda: [4]) == [4]
    del owner
    gc.collect()
    another = Owner()
    assert kept.of(another, "a", lambda: [5]) == [5]
    assert len(kept._kept) == 1, "what is kept of those that are gone goes when something new is kept"


def test_a_program_that_was_compiled_and_analysed_does_not_live_for_ever() -> None:
    program = loaded("mailbox-polled")
    rdma_robust.verify(program)
    there = ref(program)
    del program
    gc.collect()
    assert there() is None


def test_what_was_not_finished_is_not_kept() -> None:
    program = loaded("mailbox-polled")
    with pytest.raises(SizeLimitError, match="1 second"):
        value_flow(program, lambda: "1 second")
    assert value_flow(program).cells
