"""Certificates of coverability: every kind of evidence, by hand and from naive engines, and what must not pass."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest
from jsonschema import Draft202012Validator

from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.certify.nets import check_unsafe
from rdma_robust.evidence.produce import invariant_evidence, run_evidence
from rdma_robust.limits import Limits
from rdma_robust.petri.cover import COVER_ENGINES
from rdma_robust.petri.cover import cover as cover_net
from rdma_robust.petri.net import (
    CoverResult,
    DownwardInvariant,
    Invariant,
    LinearInvariant,
    Net,
    NetRun,
    StagedInvariant,
    UpwardInvariant,
)
from rdma_robust.petri.spec.reader import read_spec
from rdma_robust.petri.spec.writer import write_spec
from tests.conftest import ROOT
from tests.support import naive_certifier
from tests.support.certificates import Document, at, changed, check, check_safe, cover, document, places, rejection, without
from tests.support.naive_backward import coverable
from tests.support.random_nets import random_net

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/certificate-v2.json").read_text()))
MUTEX = """# a lock taken by any number of threads
vars pool lock critical
rules
  pool >= 1, lock >= 1 -> pool' = pool - 1, lock' = lock - 1, critical' = critical + 1 ;
  critical >= 1 -> critical' = critical - 1, lock' = lock + 1, pool' = pool + 1 ;
init pool >= 1, lock = 1, critical = 0
target critical >= 2
"""
PUMP = """vars a b c
rules
  a >= 1 -> b' = b + 1 ;
  b >= 2 -> b' = b - 2, c' = c + 1 ;
init a = 1, b = 0, c = 0
target c >= 7, a >= 1
"""

SAFE: dict[str, Invariant] = {
    "downward": DownwardInvariant(((None, 1, 0), (None, 0, 1))),
    "upward": UpwardInvariant((((2, 2),), ((0, 1), (1, 1), (2, 1)), ((0, 2), (1, 2)))),
    "upward with bounds": UpwardInvariant((), (((1, 1), (2, 1)),), (1,)),
    "upward with marked places": UpwardInvariant((), (((1, 1), (2, 1)),), (1,), (0, 1, 2)),
    "linear": LinearInvariant((0, 1, 2), (((1, 1), (2, 1)),)),
    "staged": StagedInvariant((((1, 2),), ((1, 1), (2, 1)), ((2, 2),)), (0, 1, 2), LinearInvariant((0, 1, 2), ())),
}
FLAGS = """# each of two raises its flag and goes on if it sees the other's down; both in the section asks for a trap
vars idle1 down1 up1 in1 idle2 down2 up2 in2
rules
  idle1 >= 1, down1 >= 1 -> idle1' = idle1 - 1, down1' = down1 - 1, up1' = up1 + 1 ;
  up1 >= 1, down2 >= 1 -> up1' = up1 - 1, in1' = in1 + 1 ;
  in1 >= 1 -> in1' = in1 - 1, idle1' = idle1 + 1, down1' = down1 + 1 ;
  idle2 >= 1, down2 >= 1 -> idle2' = idle2 - 1, down2' = down2 - 1, up2' = up2 + 1 ;
  up2 >= 1, down1 >= 1 -> up2' = up2 - 1, in2' = in2 + 1 ;
  in2 >= 1 -> in2' = in2 - 1, idle2' = idle2 + 1, down2' = down2 + 1 ;
init idle1 = 1, down1 = 1, up1 = 0, in1 = 0, idle2 = 1, down2 = 1, up2 = 0, in2 = 0
target in1 >= 1, in2 >= 1
"""
DOWN_OR_UP = (1, 2, 5, 6)
BY_TRAP = UpwardInvariant((), (((3, 1), (7, 1)),), (1,), scope=tuple(range(8)), traps=(DOWN_OR_UP,), shares=(((0, 1),),))
"""Of the flags and the sections of the two there are always two tokens, and of the flags alone always one."""


def holds(net: Net, invariant: Invariant) -> str:
    """Why the invariant is rejected, '' if it proves the net safe."""
    try:
        check_safe(net, invariant_evidence(net, invariant))
    except InvalidCertificate as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind", SAFE)
def test_invariants_by_hand(kind: str) -> None:
    data = cover(MUTEX, CoverResult("by hand", invariant=SAFE[kind]))
    assert check(data, MUTEX).claim == "safe"
    assert "SHA-256" in rejection(data, MUTEX.replace("lock = 1", "lock = 2"))


@pytest.mark.parametrize("kind", SAFE)
def test_invariants_do_not_pass_for_other_nets(kind: str) -> None:
    """Two locks, a target that can be covered, a rule that loses the lock in another way."""
    for old, new in (("lock = 1", "lock = 2"), ("critical >= 2", "critical >= 1"), ("lock' = lock - 1, ", "")):
        assert holds(read_spec(MUTEX.replace(old, new), "other"), SAFE[kind]), (old, new)


@pytest.mark.parametrize("kind", SAFE)
def test_every_part_of_an_invariant_matters(kind: str) -> None:
    certificate = document(cover(MUTEX, CoverResult("by hand", invariant=SAFE[kind])))
    for path in places(certificate["evidence"]):
        here = ("evidence", *path)
        old = at(certificate, here)
        assert rejection(without(certificate, here), MUTEX), path
        for new in (None, -1, 1.5, "text", {"nothing": 1}, [3], True):
            if (old, new) != (None, None):
                assert rejection(changed(certificate, here, new), MUTEX), (path, new)


def test_an_invariant_without_a_successor() -> None:
    net = read_spec(MUTEX, "mutex")
    assert "not inductive" in holds(net, DownwardInvariant(((None, 1, 0),)))
    assert "initial" in holds(net, DownwardInvariant(((None, 0, 1),)))
    assert "initial" in holds(net, DownwardInvariant(((1000, 1, 0), (1000, 0, 1))))
    assert "covers target" in holds(net, DownwardInvariant(((None, None, None),)))
    assert "not inductive" in holds(net, UpwardInvariant((((2, 2),),)))
    assert "initial" in holds(net, UpwardInvariant((((2, 2),), ((0, 1), (1, 1)))))
    assert "covers target" in holds(net, UpwardInvariant((((2, 3),),)))


def test_an_invariant_that_rests_on_a_trap() -> None:
    net = read_spec(FLAGS, "flags")
    assert holds(net, BY_TRAP) == ""
    data = cover(FLAGS, CoverResult("by hand", invariant=BY_TRAP))
    assert check(data, FLAGS).claim == "safe"
    certificate = document(data)
    for path in places(certificate["evidence"]):
        here = ("evidence", *path)
        assert rejection(without(certificate, here), FLAGS) or path[0] in ("scope", "marked"), path
        for new in (None, -1, 1.5, "text", {"nothing": 1}, [3], True):
            assert rejection(changed(certificate, here, new), FLAGS), (path, new)


def test_traps_that_prove_nothing() -> None:
    net = read_spec(FLAGS, "flags")
    assert "exceeds a bound" in holds(net, replace(BY_TRAP, bounds=(0,)))
    assert "increases" in holds(net, replace(BY_TRAP, shares=(((0, 2),),)))
    assert "increases" in holds(net, replace(BY_TRAP, shares=((),)))
    assert "may empty it" in holds(net, replace(BY_TRAP, traps=((1, 5),)))
    assert "not marked initially" in holds(net, replace(BY_TRAP, traps=((),)))
    assert "names trap 1" in holds(net, replace(BY_TRAP, shares=(((1, 1),),)))
    assert "no place" in holds(net, replace(BY_TRAP, scope=(0, 1, 2, 4, 5, 6)))
    assert "no place" in holds(net, replace(BY_TRAP, scope=(1, 3, 5, 6, 7)))
    crashes = FLAGS.replace("init", "up1 >= 1 -> up1' = up1 - 1 ;\ninit")
    assert holds(read_spec(crashes, "crashes"), BY_TRAP) == "", "a rule that only takes tokens away helps nobody"
    resets = FLAGS.replace("init", "up1 >= 1 -> up1' = up1 - 1, idle1' = idle1 + 1 ;\ninit")
    assert "may empty it" in holds(read_spec(resets, "resets"), BY_TRAP)


GATE = """# two in the section would open the gate, and something would be gained
vars pool lock critical gain
rules
  pool >= 1, lock >= 1 -> pool' = pool - 1, lock' = lock - 1, critical' = critical + 1 ;
  critical >= 1 -> critical' = critical - 1, lock' = lock + 1, pool' = pool + 1 ;
  critical >= 2 -> gain' = gain + 1 ;
  gain >= 1, lock >= 1, critical >= 1 -> gain' = gain + 2 ;
init pool >= 1, lock = 1, critical = 0, gain = 3
target gain >= 4
"""
BY_GATE = StagedInvariant(
    (((1, 2),), ((1, 1), (2, 1)), ((2, 2),)), (0, 1, 2, 3), LinearInvariant((0, 1, 2, 3), (((3, 1),),))
)
"""Never two locks, nor a lock while one is in the section, nor two there; without the rules for that nothing is gained."""


def test_a_proof_in_two_stages() -> None:
    data = cover(GATE, CoverResult("by hand", invariant=BY_GATE))
    assert check(data, GATE).claim == "safe"
    certificate = document(data)
    SCHEMA.validate(certificate)
    for path in places(certificate["evidence"]):
        here = ("evidence", *path)
        assert rejection(without(certificate, here), GATE), path
        for new in (None, -1, 1.5, "text", {"nothing": 1}, [3], True):
            assert rejection(changed(certificate, here, new), GATE), (path, new)


def test_stages_that_prove_nothing() -> None:
    net = read_spec(GATE, "gate")
    assert holds(net, BY_GATE) == ""
    for i in range(len(BY_GATE.never)):
        fewer = (*BY_GATE.never[:i], *BY_GATE.never[i + 1 :])
        assert "not inductive" in holds(net, replace(BY_GATE, never=fewer)), i
    assert "initial" in holds(net, replace(BY_GATE, never=(*BY_GATE.never, ((0, 1),))))
    assert "initial" in holds(net, replace(BY_GATE, never=(*BY_GATE.never, ())))
    assert "not inductive" in holds(net, replace(BY_GATE, never=(*BY_GATE.never, ((2, 1),))))
    assert "second stage" in holds(net, replace(BY_GATE, never=()))
    assert "does not exclude" in holds(net, replace(BY_GATE, rest=LinearInvariant((0, 1, 2, 3), (((3, 0),),))))
    assert "second stage" in holds(net, replace(BY_GATE, rest=UpwardInvariant(())))
    assert "second stage" in holds(net, replace(BY_GATE, rest=DownwardInvariant(((None, 1, 1, 3),))))
    assert "not among `evidence.marked`" in holds(net, replace(BY_GATE, marked=(0, 1, 2)))
    staged = document(cover(GATE, CoverResult("by hand", invariant=BY_GATE)))
    nested = changed(staged, ("evidence", "rest"), staged["evidence"])
    assert "`evidence.rest.kind`" in rejection(nested, GATE)


@pytest.mark.parametrize(("old", "new"), [("lock = 1", "lock = 2"), ("gain >= 4", "gain >= 3"), ("gain = 3", "gain = 4")])
def test_a_proof_in_two_stages_does_not_pass_for_other_nets(old: str, new: str) -> None:
    assert old in GATE
    assert holds(read_spec(GATE.replace(old, new), "other"), BY_GATE)


def test_weights_that_prove_nothing() -> None:
    net = read_spec(MUTEX, "mutex")
    assert "increases" in holds(net, LinearInvariant((0, 1, 2), (((2, 1),),)))
    assert "does not exclude" in holds(net, LinearInvariant((0, 1, 2), (((0, 1), (2, 1)),)))
    assert "negative" in holds(net, LinearInvariant((0, 1, 2), (((0, -1), (2, 1)),)))
    assert "not among `evidence.marked`" in holds(net, LinearInvariant((0, 1), ((),)))
    assert "marked initially" in holds(net, LinearInvariant((0,), ((),)))
    assert "0 entries" in holds(net, LinearInvariant((0, 1, 2), ()))
    assert "exceeds a bound" in holds(net, UpwardInvariant((), (((1, 1), (2, 1)),), (0,)))
    assert "negative" in holds(net, UpwardInvariant((), (((0, -1), (1, 1), (2, 1)),), (0,)))


def test_a_run_with_loops() -> None:
    net = read_spec(PUMP, "pump")
    data = cover(PUMP, CoverResult("by hand", run=NetRun((1, 0, 0), (*[0] * 14, *[1] * 7), 0)))
    assert document(data)["evidence"]["firing"] == [{"times": 14, "of": [0]}, {"times": 7, "of": [1]}]
    assert check(data, PUMP).claim == "unsafe"
    huge = 10**30
    text = PUMP.replace("c >= 7", f"c >= {huge}")
    certificate = document(cover(text, CoverResult("by hand", run=NetRun((1, 0, 0), (0, 1), 0))))
    loops: Document = {"times": huge, "of": [{"times": 2, "of": [0]}, 1]}
    assert check(changed(certificate, ("evidence", "firing"), [loops]), text).claim == "unsafe"
    loops["times"] -= 1
    assert "too few tokens" in rejection(changed(certificate, ("evidence", "firing"), [loops]), text)
    loops["of"][0]["times"] = 1
    assert "cannot be fired" in rejection(changed(certificate, ("evidence", "firing"), [loops]), text)
    assert net.transitions


def test_a_run_must_start_in_an_initial_marking() -> None:
    """Too many tokens on a place and too few are no initial marking, also where the run does not need more."""
    net = read_spec(PUMP.replace("b = 0, c = 0", "b in [1, 3], c >= 2"), "pump")
    fired = (*[0] * 14, *[1] * 7)
    assert check_unsafe(net, run_evidence(net, (1, 3, 9), fired, 0))
    for start in ((0, 1, 2), (2, 1, 2), (1, 0, 2), (1, 4, 2), (1, 1, 1)):
        with pytest.raises(InvalidCertificate, match="initial marking"):
            check_unsafe(net, run_evidence(net, start, fired, 0))


def test_every_part_of_a_run_matters() -> None:
    certificate = document(cover(PUMP, CoverResult("by hand", run=NetRun((1, 0, 0), (*[0] * 14, *[1] * 7), 0))))
    for path in places(certificate["evidence"]):
        here = ("evidence", *path)
        old = at(certificate, here)
        assert rejection(without(certificate, here), PUMP), path
        for new in (None, -1, 1.5, "text", [], [5], 99, True, {"nothing": 1}):
            larger = isinstance(old, int) and new == 99 and path[-1] == "times" and path[1] == 0
            if not larger:
                assert rejection(changed(certificate, here, new), PUMP), (path, new)
    nested: object = 0
    for _ in range(60):
        nested = {"times": 1, "of": [nested]}
    assert "nested" in rejection(changed(certificate, ("evidence", "firing"), [nested]), PUMP)


@pytest.mark.parametrize("chunk", range(4))
def test_random_nets(chunk: int) -> None:
    """What naive engines find is accepted, whichever evidence they give; no evidence passes for the other verdict."""
    kinds: dict[str, int] = {}
    for seed in range(60_000 + 40 * chunk, 60_000 + 40 * (chunk + 1)):
        net = random_net(Random(seed))
        answer = coverable(net, 200)
        run = naive_certifier.run_to_a_target(net, 400)
        if run is not None:
            assert answer is not False
            assert check_unsafe(net, run_evidence(net, run.start, run.transitions, run.target))
            kinds["run"] = kinds.get("run", 0) + 1
        for make in (naive_certifier.downward, naive_certifier.upward, naive_certifier.linear):
            invariant = make(net)
            if invariant is not None:
                assert (holds(net, invariant) == "") == (answer is False), f"{make.__name__}, seed {seed}"
                kinds[make.__name__] = kinds.get(make.__name__, 0) + (answer is False)
    assert min(kinds.values()) > 3, kinds
    assert len(kinds) == 4


@pytest.mark.parametrize("engine", COVER_ENGINES)
def test_what_engines_find_is_accepted(engine: str) -> None:
    """Random nets and the nets above, from the verdict of each engine to its evidence in the file."""
    claims = set()
    texts = [MUTEX, MUTEX.replace("lock = 1", "lock = 2"), PUMP]
    for text in [*texts, *(write_spec(random_net(Random(80_000 + seed))) for seed in range(30))]:
        result = cover_net(read_spec(text, "net.spec"), Limits(states=200), engine)
        if result.run is not None or result.invariant is not None:
            data = cover(text, result)
            SCHEMA.validate(document(data))
            claims.add(check(data, text).claim)
    assert claims == ({"safe"} if engine in {"state-equation", "pairs"} else {"safe", "unsafe"})


@pytest.mark.parametrize("chunk", range(4))
def test_nothing_false_is_ever_proved(chunk: int) -> None:
    """Random evidence, and evidence with random changes: what is accepted is true."""
    accepted = 0
    for seed in range(70_000 + 60 * chunk, 70_000 + 60 * (chunk + 1)):
        rng = Random(seed)
        net = random_net(rng)
        answer = coverable(net, 200)
        if answer is None:
            continue
        for _ in range(12):
            if not holds(net, random_invariant(rng, net)):
                assert answer is False, f"seed {seed}"
                accepted += 1
            fired = tuple(rng.randrange(len(net.transitions)) for _ in range(rng.randint(0, 6)))
            start = tuple(
                rng.randint(low, low + 2 if high is None else high) for low, high in zip(net.least, net.most, strict=True)
            )
            try:
                check_unsafe(net, run_evidence(net, start, fired, rng.randrange(len(net.targets))))
            except InvalidCertificate:
                continue
            assert answer, f"seed {seed}"
            accepted += 1
    assert accepted > 10


def random_invariant(rng: Random, net: Net) -> Invariant:
    """An invariant that a naive engine made, with something changed, or one out of the air."""
    size = range(len(net.places))

    def vector(least: int = 0) -> tuple[tuple[int, int], ...]:
        return naive_certifier.sparse(tuple(rng.randint(least, 3) * rng.randint(0, 1) for _ in size))

    marked = tuple(sorted(naive_certifier.markable(net) - ({rng.choice(size)} if rng.random() < 0.3 else set())))
    match rng.randrange(5):
        case 4:
            return random_stages(rng, net, marked)
        case 0:
            found = naive_certifier.downward(net, 40)
            limits = list(found.limits if found else ())
            if limits:
                i, p = rng.randrange(len(limits)), rng.choice(size)
                limits[i] = (*limits[i][:p], rng.choice([0, 1, 2, None]), *limits[i][p + 1 :])
            return DownwardInvariant(tuple(rng.sample(limits, rng.randint(0, len(limits)))))
        case 1:
            return LinearInvariant(marked, tuple(vector(-1 if rng.random() < 0.1 else 0) for _ in net.targets))
        case 2:
            weights = tuple(vector() for _ in range(rng.randint(0, 2)))
            basis = (*net.targets, *(vector() for _ in range(rng.randint(0, 3))))
            return UpwardInvariant(basis, weights, tuple(rng.randint(0, 3) for _ in weights), marked)
        case _:
            whole = naive_certifier.upward(net, 40) or UpwardInvariant(net.targets)
            basis = tuple(rng.sample(whole.basis, rng.randint(0, len(whole.basis))))
            weights = (vector(),)
            changed = replace(whole, basis=basis, weights=weights, bounds=(rng.randint(0, 4),), marked=marked)
            if rng.random() < 0.5:
                return changed
            scope = tuple(p for p in size if rng.random() < 0.9)
            traps = tuple(tuple(p for p in scope if rng.random() < 0.6) for _ in range(2))
            return replace(changed, scope=scope, traps=traps, shares=(((rng.randrange(2), rng.randint(0, 2)),),))


def random_stages(rng: Random, net: Net, marked: tuple[int, ...]) -> Invariant:
    """What cannot be covered of some random markings, and a proof for the rest; often with something left out of it."""
    size = range(len(net.places))
    asked = tuple(naive_certifier.sparse(tuple(rng.choice([0, 0, 1, 2]) for _ in size)) for _ in range(3))
    never = tuple(cone for cone in asked if cone and coverable(replace(net, targets=(cone,)), 40) is False)
    closed = naive_certifier.upward(replace(net, targets=never), 60)
    basis = closed.basis if closed and never else ()
    if basis and rng.random() < 0.4:
        basis = tuple(rng.sample(basis, len(basis) - 1))
    left = naive_certifier.without(net, basis)
    if rng.random() < 0.2 and left.transitions:
        left = replace(left, transitions=left.transitions[1:])
    rest = naive_certifier.upward(left, 40) if rng.random() < 0.7 else naive_certifier.downward(left, 40)
    return StagedInvariant(basis, marked, rest or UpwardInvariant(left.targets))
