"""Memory that is refused, at every request in turn: a kernel ends with MemoryError, and whoever drives it with an answer.

Only a build for tests can refuse memory; `.ci/kernels` makes one and runs this in it, under AddressSanitizer.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from bench.families import lock_server, ring_exchange
from rdma_robust.counters.kernel import driver
from rdma_robust.counters.program import Assign, Command, CounterProgram, ProcessGraph, Require, Target, leaf
from rdma_robust.counters.search import explore
from rdma_robust.expr import Binary, Const, Name
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.petri.cover import cover
from rdma_robust.petri.engine import KERNELS
from rdma_robust.petri.exclusion import ExclusivePairs
from rdma_robust.petri.slice import Core, slice_net
from rdma_robust.pipeline import check_text
from rdma_robust.robustness.frame import EventLabel
from rdma_robust.robustness.pivot import instrument_pivot
from tests.conftest import NOT_ROBUST, ROOT
from tests.support.nets import make_net, random_program
from tests.support.parts_here import HostsHere
from tests.support.searches import comparable


def modules(room: str) -> tuple[Any, ...]:
    """The extension modules of a room."""
    names = sorted(path.stem for path in (ROOT / "rdma_robust" / room / "kernel").glob("*.pyx"))
    return tuple(import_module(f"rdma_robust.{room}.kernel.{name}") for name in names)


PETRI, COUNTERS = modules("petri"), modules("counters")
TEST_BUILD = PETRI[0].refuse_allocations(0, 0) >= 0
FOR_EVER = 1 << 40

pytestmark = pytest.mark.skipif(
    not (TEST_BUILD or os.environ.get("RDMA_ROBUST_TEST_BUILD")),
    reason="memory is refused in a build for tests: .ci/kernels",
)


def test_this_is_a_build_for_tests() -> None:
    assert TEST_BUILD
    for module in (*PETRI, *COUNTERS):
        code = Path(module.__file__).read_bytes()
        assert b"__asan_" in code
        assert b"__ubsan_" in code


@contextmanager
def refusing(module: Any, first: int, count: int) -> Iterator[list[int]]:
    """Refuse some requests of a module; the list gets how many have been refused."""
    refused: list[int] = []
    module.refuse_allocations(first, count)
    try:
        yield refused
    finally:
        refused.append(module.refuse_allocations(0, 0))


def refuse_each(module: Any, work: Callable[[], object], count: int) -> int:
    """Do `work` with `count` requests refused from the first one, the second one and so on, until there is none to refuse.

    Return how often it ended with MemoryError; where it does not, it must answer as it does with all its memory.
    """
    answer = work()
    failures = 0
    for first in range(1, 100_000):
        with refusing(module, first, count) as refused:
            try:
                found = work()
            except MemoryError:
                failures += 1
            else:
                assert found == answer
        if not refused[0]:
            return failures
    raise AssertionError("the work asks for memory without end")


def cores() -> list[Core]:
    found = [slice_net(random_program(random.Random(seed))).core for seed in range(60)]
    return [core for core in found if core.guards and core.targets][:12]


def search(core: Core, exact: bool) -> object:
    """All of a forest; when it is at an end every number of it is read."""
    forest = KERNELS[0].forest(core, exact)
    for _ in range(40):
        found, _ = forest.work(50)
        if found != -1:
            break
    nodes = range(forest.stored)
    return (
        found,
        [forest.marking(node) for node in nodes],
        [forest.came(node) for node in nodes],
        forest.live_nodes(),
        forest.cycles,
    )


def keep_markings() -> object:
    rng = random.Random(5)
    markings = [tuple((p, rng.randint(1, 3)) for p in range(6) if rng.random() < 0.5) for _ in range(60)]
    kept, tree = KERNELS[0].marking_set(6), KERNELS[0].tree()
    found = []
    for number, marking in enumerate(markings):
        found.append((kept.below(marking), kept.above(marking), kept.all_above(marking)))
        kept.add(number * 7, marking)
        tree.add(number - 1, marking)
        if number % 3 == 2:
            kept.remove(number * 7 - 7)
            tree.replace(number - 1, marking)
        found.append(tree.smaller_ancestors(number))
    return found, kept.numbers()


def fire(core: Core) -> object:
    firing, relaxation = KERNELS[0].firing(core), KERNELS[0].relaxation(core)
    marking = tuple((p, k) for p, k in enumerate(core.initial) if k)
    found = [firing.successors(marking), *(firing.predecessors(target) for target in core.targets)]
    return found, relaxation.plan(marking), relaxation.limit(marking)


def exclude(core: Core) -> object:
    """All pairs of conditions, and a proof that leads from those that exclude each other to their predecessors."""
    search = ExclusivePairs(core, KERNELS[0])
    proof = list(search.steps())
    cones = [((p, 1), (q, 2)) for p in range(len(core.initial)) for q in range(p + 1, len(core.initial))]
    pruned = [search.prunes(cone) for cone in cones]
    return proof, pruned, list(search.closed()), [search.excluding(cone) for cone in cones]


WORKS: dict[str, Callable[[], object]] = {
    "markings": keep_markings,
    **{f"firing-{i}": lambda core=core: fire(core) for i, core in enumerate(cores())},
    **{f"forest-{i}": lambda core=core: search(core, False) for i, core in enumerate(cores())},
    **{f"pairs-{i}": lambda core=core: exclude(core) for i, core in enumerate(cores())},
    **{f"exact-{i}": lambda core=core: search(core, True) for i, core in enumerate(cores())},
}


@pytest.mark.parametrize("count", [1, FOR_EVER], ids=["once", "for-ever"])
@pytest.mark.parametrize("name", WORKS)
def test_a_kernel_of_nets_raises_where_memory_is_refused(name: str, count: int) -> None:
    failures = [refuse_each(module, WORKS[name], count) for module in PETRI]
    assert sum(failures) > 5


@pytest.mark.parametrize("engine", ["auto", "backward", "forward", "karp-miller", "pairs"])
def test_an_engine_of_nets_ends_where_memory_is_refused(engine: str) -> None:
    rules = [({0: 1}, {0: -1, 1: 1, 3: 1}), ({1: 1}, {1: -1, 2: 1}), ({2: 1, 3: 2}, {2: -1, 0: 1, 4: 1})]
    net = make_net(6, [*rules, ({4: 3}, {5: 1, 4: -3})], [2, 0, 0, 0, 0, 0], [{5: 4}])

    def decide() -> object:
        result = cover(net, Limits(states=300), engine)
        return result.run is not None, result.cut

    for module in PETRI:
        refuse_each(module, decide, 1)


COUNTED = """node A { x = 0, y = 0, g = 0 }
node B { z = 0 }
thread T on A { loop { put B.z = g; choose { poll B } or { skip } } }
thread U on B { loop { put A.g = z; put A.x = z; poll A } }
"""
"""With polls that nothing bounds, so that the tree of Karp and Miller is searched."""


def searched(program: CounterProgram[EventLabel]) -> object:
    """What the compiled search says. Raises MemoryError where it was cut for want of memory."""
    found = explore(program, Limits(states=400))
    assert found.compiled
    if found.result.cut == "memory":
        raise MemoryError
    return comparable(found)


@pytest.mark.parametrize("reductions", [frozenset(), ALL_REDUCTIONS], ids=["none", "all"])
@pytest.mark.parametrize(
    "text", [lock_server(2), lock_server(3), ring_exchange(3), COUNTED], ids=["locks", "like threads", "ring", "counters"]
)
def test_a_search_of_states_is_cut_where_memory_is_refused(text: str, reductions: frozenset[str]) -> None:
    program = instrument_pivot(load_program(text, "family"), reductions=reductions)
    failures = [refuse_each(module, lambda: searched(program), 1) for module in COUNTERS]
    assert sum(failures) > 20


@pytest.mark.parametrize("engine", ["bfs", "dfs"])
def test_a_search_whose_tables_grow_is_cut_where_memory_is_refused(engine: str) -> None:
    up = leaf("up", Require(Binary("<", Name("x"), Const(3_500))), Assign((("x", Binary("+", Name("x"), Const(1))),)))
    never: Target[str | None] = Target("never", Const(0))
    process = ProcessGraph("P", 0, (Command(0, 0, up),))
    program = CounterProgram("large", (("x", 0),), (), (process,), (never,), (), (), (), (("x", 20),))

    def work() -> object:
        found = explore(program, Limits(), engine=engine)
        if found.result.cut == "memory":
            raise MemoryError
        assert found.result.states == 3_501
        return comparable(found)

    assert sum(refuse_each(module, work, count) for module in COUNTERS for count in (1, FOR_EVER)) > 20


@pytest.mark.parametrize("count", [1, FOR_EVER], ids=["once", "from then on"])
def test_a_search_of_several_threads_is_cut_where_memory_is_refused(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(driver, "MANY", 0)
    program = instrument_pivot(load_program(lock_server(3), "family"), reductions=ALL_REDUCTIONS)

    def work() -> object:
        found = explore(program, Limits(threads=2))
        assert threading.active_count() == 1
        if found.result.cut == "memory":
            raise MemoryError
        return comparable(found)

    assert sum(refuse_each(module, work, count) for module in COUNTERS) > 20


@pytest.mark.parametrize("count", [1, FOR_EVER], ids=["once", "from then on"])
def test_a_search_in_parts_is_cut_where_memory_is_refused(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(driver, "MANY", 0)
    monkeypatch.setattr(driver, "hosts_of", lambda _: HostsHere(2))
    program = instrument_pivot(load_program(lock_server(1), "family"), reductions=ALL_REDUCTIONS)

    def work() -> object:
        found = explore(program, Limits(executor="local:2"))
        if found.result.cut == "memory":
            raise MemoryError
        return comparable(found)

    assert sum(refuse_each(module, work, count) for module in COUNTERS) > 20


def test_a_verdict_is_unknown_or_right_where_memory_is_refused() -> None:
    def decide() -> object:
        outcome = check_text(NOT_ROBUST, "it", CheckOptions(reductions=frozenset({"dead-ends", "por"})))
        if outcome.verdict is Verdict.UNKNOWN:
            assert "memory" in outcome.reason
            raise MemoryError
        return outcome.verdict

    assert sum(refuse_each(module, decide, 1) for module in COUNTERS) > 10
