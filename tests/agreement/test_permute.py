"""States up to exchanges of like threads: the same verdicts, in Python and compiled; what goes wrong if a part is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from bench.families import lock_server
from rdma_robust.counters.lower import LoweredProgram, lower
from rdma_robust.counters.permutations import State
from rdma_robust.counters.program import CounterProgram
from rdma_robust.counters.search import explore_lowered
from rdma_robust.errors import InternalError, ProgramError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness import static_filter
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.frame import EventLabel, InstrumentationFrame
from rdma_robust.robustness.pivot import instrument_pivots
from rdma_robust.robustness.reductions import permute
from rdma_robust.robustness.reductions.like_threads import Renaming
from rdma_robust.robustness.static_filter import Pivots, pivots_to_try
from tests.litmus.goldens import PROGRAMS, load
from tests.support.copied import automata_copied, named_copied, random_copied
from tests.support.exchanges import broken, reachable
from tests.support.shares import chunks, share
from tests.support.symmetric import clients

DATA = Path(__file__).parents[1] / "data" / "permute"
LIMITS = Limits(None, 20_000, None)
ALONE = frozenset({"permute"})
SETS = (
    ALONE,
    ALONE | {"por"},
    ALL_REDUCTIONS,
    ALL_REDUCTIONS - {"filter"},
    ALL_REDUCTIONS - {"symmetry", "values"},
    ALONE | {"dead", "relevance"},
    ALONE | {"dead-ends", "values", "por"},
)


def pivots(program: Program, reductions: frozenset[str] = ALONE) -> Pivots:
    model = CheckOptions().on(program.hardware).model
    return pivots_to_try(InstrumentationFrame.to_instrument(program, model), reductions, large=0)


def lowered(program: Program, reductions: frozenset[str] = ALONE) -> LoweredProgram[EventLabel]:
    return lower(instrument_pivots(pivots(program, reductions)))


def named(name: str) -> Program:
    return load_program((DATA / name).read_text(encoding="utf-8"), name)


def verdict(program: Program, reductions: frozenset[str]) -> Verdict:
    return decide(program, CheckOptions(reductions=reductions, large=0, max_states=20_000)).verdict


def agree(seed: int) -> bool:
    """Compare one random program with copied threads; return whether it had like threads."""
    rng = Random(seed)
    try:
        program = load_program(named_copied(rng) if seed % 4 == 3 else random_copied(rng, 3 + seed % 2), f"seed {seed}")
    except ProgramError:
        return False
    reductions = SETS[seed % len(SETS)]
    found = pivots(program, reductions)
    if found.apart is None:
        return False
    alike, apart = lower(instrument_pivots(found)), lower(instrument_pivots(found.apart))
    if alike.arranger is None:
        return False
    if seed % 3 == 0:
        assert not broken(alike, 40), (seed, broken(alike, 40))
    por = "por" in reductions
    python = explore_lowered(alike, LIMITS, reduce=por, compiled=False)
    compiled = explore_lowered(alike, LIMITS, reduce=por)
    assert compiled.result == replace(python.result, fired=compiled.result.fired), seed
    plain = explore_lowered(apart, LIMITS, reduce=por)
    if not python.result.cut and not plain.result.cut:
        assert (python.result.target >= 0) == (plain.result.target >= 0), seed
    with_it, without = (
        decide(program, CheckOptions(reductions=r, large=0, max_states=20_000)) for r in (reductions, reductions - ALONE)
    )
    if Verdict.UNKNOWN not in (with_it.verdict, without.verdict):
        assert with_it.verdict is without.verdict, seed
        if with_it.faults_exact and without.faults_exact:
            assert with_it.faults == without.faults, seed
    return True


@pytest.mark.ci
def test_random_programs() -> None:
    assert sum(agree(seed) for seed in range(8)) >= 4


@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_more_random_programs(chunk: int) -> None:
    """100 programs a chunk, 6,000 in all, with each set of reductions in turn."""
    assert sum(agree(seed) for seed in range(1_000_000 + 100 * chunk, 1_000_000 + 100 * chunk + 100)) >= 40


@pytest.mark.parametrize("path", share(PROGRAMS, 25), ids=lambda p: p.stem)
def test_litmus_programs(path: Path) -> None:
    """Whatever their size."""
    program = load(path)
    if pivots(program, ALL_REDUCTIONS).alike:
        assert verdict(program, ALL_REDUCTIONS) is verdict(program, ALL_REDUCTIONS - ALONE)
        assert not broken(lowered(program, ALL_REDUCTIONS), 40)


def kept(program: LoweredProgram[EventLabel]) -> list[State]:
    """What a search without other reductions stores that does not end at targets."""
    arranger = program.arranger
    assert arranger is not None
    found = {arranger.arranged(program.initial): None}
    todo = list(found)
    while todo:
        new = [arranger.arranged(after) for _, after, _ in program.successors(todo.pop())]
        new = [state for state in dict.fromkeys(new) if state not in found]
        found.update(dict.fromkeys(new))
        todo += new
    return list(found)


@pytest.mark.parametrize(
    ("text", "orbits"),
    [(clients(2), True), (clients(3), True), ((DATA / "unpolled.rdma").read_text(encoding="utf-8"), False)],
)
def test_what_is_kept_and_its_images_are_what_can_be_reached_and_its_images(text: str, orbits: bool) -> None:
    program = lowered(load_program(text, "kept.rdma"))
    assert program.arranger is not None
    plain = reachable(program, 100_000)
    found = kept(program)
    assert images(program, found) == images(program, plain)
    assert len(found) < len(plain)
    if orbits:  # one of each
        assert len(found) == len({frozenset(images(program, [state])) for state in plain})


def images(program: LoweredProgram[EventLabel], states: list[State]) -> set[State]:
    """The states with all that exchanges make of them."""
    assert program.arranger is not None
    found = set(states)
    todo = list(states)
    while todo:
        state = todo.pop()
        new = {exchange(state) for exchange in program.arranger.exchanges} - found
        found |= new
        todo += new
    return found


def test_some_of_three_threads_may_have_the_same_number() -> None:
    lines = (
        f"thread T{i} on A {{ x{i} = {v}; assume x{i} == {v}; put B.z = w; get y{i} = B.z }}"
        for i, v in enumerate((1, 2, 1))
    )
    words = ", ".join(f"x{i}, y{i}" for i in range(3))
    program = lowered(load_program("\n".join((f"node A {{ w, {words} }}", "node B { z }", *lines)), "numbers.rdma"))
    assert not broken(program, 60)
    python, compiled = (explore_lowered(program, LIMITS, compiled=c).result for c in (False, True))
    assert python == replace(compiled, fired=python.fired)


def agree_on_automata(seed: int) -> bool:
    """Copies of automata, some with locked sections of several locations; return whether two are like."""
    try:
        program = load_program(automata_copied(Random(seed)), f"seed{seed}.trencher")
    except ProgramError:
        return False
    found = pivots(program, SETS[seed % len(SETS)])
    if found.apart is not None:
        alike, apart = lower(instrument_pivots(found)), lower(instrument_pivots(found.apart))
        assert alike.arranger is None or not broken(alike, 20), seed
        with_it, without = (explore_lowered(each, LIMITS).result for each in (alike, apart))
        assert with_it.cut or without.cut or (with_it.target >= 0) == (without.target >= 0), seed
    return found.apart is not None


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_automata(chunk: int) -> None:
    assert sum(agree_on_automata(seed) for seed in range(50 * chunk, 50 * chunk + 50)) >= 20


def not_moved(role: str, image: Callable[[permute.Role, Renaming], permute.Role]) -> Callable[..., permute.Role]:
    return lambda r, by: r if r[0] == role else image(r, by)


@pytest.mark.parametrize("path", share(sorted(DATA.glob("*.rdma")), 3), ids=lambda p: p.stem)
def test_a_part_that_does_not_move_with_its_thread_is_noticed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each program is named for what it needs: a field of a block left where it is, or a bit of a set."""
    program = named(path.name)
    assert not broken(lowered(program), 80)
    monkeypatch.setattr(permute, "_image", not_moved(path.stem.replace("-", " "), permute._image))
    assert broken(lowered(program), 80)


def test_every_part_has_a_program_that_needs_it() -> None:
    """But those that stand for the whole state: the class, its value, and whether the cycle is closed."""
    seen = {role[0] for path in DATA.glob("*.rdma") for role in parts(named(path.name))}
    assert seen - {"class", "closed", "alpha_value"} == {path.stem.replace("-", " ") for path in DATA.glob("*.rdma")}


def parts(program: Program) -> list[permute.Role]:
    found: list[permute.Role] = []

    class Seen(permute.StateLayout):
        def check(self, program: CounterProgram[object]) -> None:
            super().check(program)
            found.extend(self.parts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(permute, "StateLayout", Seen)
        instrument_pivots(pivots(program))
    return found


def test_a_variable_that_is_not_listed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permute.StateLayout, "_queue_pairs", lambda _self: iter(()))
    with pytest.raises(InternalError, match="what the variable beta"):
        lowered(named("beta.rdma"))


SAME_WORD = """
node A { x }
node C { z }
thread T1 on A {
  get x = C.z
  put C.z = x
}
thread T2 on A {
  get x = C.z
  put C.z = x
}
"""


def test_starting_only_one_class_of_an_orbit_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Phase 1 may only be sorted where the classes of all images are started."""
    program = load_program(SAME_WORD, "same-word.rdma")
    assert verdict(program, ALONE | {"symmetry"}) is Verdict.NOT_ROBUST
    codes = permute.StateLayout.codes
    monkeypatch.setattr(static_filter, "closed_under", lambda classes, _alike: dict.fromkeys(classes))
    monkeypatch.setattr(permute.StateLayout, "number", lambda self, c: self._numbers.get(c, 0))
    monkeypatch.setattr(permute.StateLayout, "codes", lambda self, r, by: {} if r[0] == "class" else codes(self, r, by))
    assert verdict(program, ALONE | {"symmetry"}) is Verdict.ROBUST


def test_a_class_that_keeps_its_number_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    program = load_program(SAME_WORD, "same-word.rdma")
    codes = permute.StateLayout.codes
    monkeypatch.setattr(permute.StateLayout, "codes", lambda self, r, by: {} if r[0] == "class" else codes(self, r, by))
    assert broken(lowered(program))


@pytest.mark.parametrize("number", [3, 4, 6, pytest.param(5, marks=pytest.mark.ci), pytest.param(8, marks=pytest.mark.ci)])
def test_lock_servers_whose_clients_write_their_numbers(number: int) -> None:
    outcome = decide(load_program(lock_server(number), "lock-server.rdma"), CheckOptions())
    assert outcome.verdict is Verdict.ROBUST
    assert outcome.counts.states < 2_000


OWN_NUMBERS = """
node A { x = 1 }
node B0 { y, z }
node B1 { y, z }
thread T1 on A {
  assume x == 1
  get x = B0.z
  poll B0
  put B0.y = 1
}
thread T2 on A {
  assume x == 2
  get x = B1.z
  poll B1
  put B1.y = 2
}
"""


@pytest.mark.parametrize("lost", ["_frozen", "_values"])
def test_values_that_tell_threads_apart_are_renamed(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In words, and in the value that the pivot reads, which is of the sort of its word."""
    program = load_program(OWN_NUMBERS, "own-numbers.rdma")
    assert not broken(lowered(program), 200)
    monkeypatch.setattr(permute.StateLayout, lost, lambda *_: {} if lost == "_values" else iter(()))
    assert broken(lowered(program), 200)


FAILING = """
node S { x }
node A { a }
node B { b }
thread T1 on A {
  reg r
  get a = S.x
  poll S
  r = a
  assert r == 1
}
thread T2 on B {
  reg r
  get b = S.x
  poll S
  r = b
  assert r == 1
}
"""


def test_faults_of_all_like_threads_are_reported() -> None:
    program = load_program(FAILING.replace("get", "put S.x = 0\n  get"), "failing.rdma")
    assert pivots(program).alike
    options = CheckOptions(large=0, reductions=ALONE)
    found = decide(program, options)
    assert found.faults == decide(program, replace(options, reductions=frozenset())).faults
