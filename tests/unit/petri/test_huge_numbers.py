"""Numbers of up to 1,000 digits, and answers with more of them than can be written: exact, or UNKNOWN with the reason."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rdma_robust.certify.nets import check_unsafe
from rdma_robust.cli.app import run
from rdma_robust.evidence.produce import invariant_evidence, run_evidence
from rdma_robust.limits import Limits
from rdma_robust.petri.cover import COVER_ENGINES, cover
from rdma_robust.petri.engine import KERNELS, PYTHON, Kernel
from rdma_robust.petri.net import EnumeratedInvariant, Net, NetTransition
from rdma_robust.petri.slice import slice_net
from rdma_robust.petri.spec.reader import read_spec
from rdma_robust.petri.spec.writer import write_spec
from tests.support.certificates import check_safe
from tests.support.nets import make_net, vector

NUMBERS = st.one_of(
    st.integers(1, 3),
    st.sampled_from([2**53 + 1, 2**60 - 1, 2**63, 10**15 + 1, 10**308, 10**309, 2 * 10**309, 10**999, 10**999 + 1]),
    st.integers(1, 10**1000 - 1),
)
"""Small, around the limits of machine words, of the solver and of floating point, and any of 1,000 digits."""
SAFE_ONLY = {"state-equation", "pairs"}


@st.composite
def nets(draw: st.DrawFn) -> Net:
    places = draw(st.integers(1, 4))
    place = st.integers(0, places - 1)
    part = st.dictionaries(place, NUMBERS, max_size=2)
    rules = []
    for _ in range(draw(st.integers(1, 5))):
        takes, gives, reads = draw(part), draw(part), draw(st.dictionaries(place, NUMBERS, max_size=1))
        delta = {p: gives.get(p, 0) - takes.get(p, 0) for p in range(places)}
        guard = {p: max(takes.get(p, 0), reads.get(p, 0)) for p in range(places)}
        rules.append((guard, delta))
    start = draw(st.lists(st.one_of(st.just(0), st.just(1), NUMBERS, st.none()), min_size=places, max_size=places))
    targets = draw(st.lists(st.dictionaries(place, NUMBERS, min_size=1, max_size=2), min_size=1, max_size=2))
    return make_net(places, rules, start, targets)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(nets())
def test_every_engine_has_an_exact_answer_or_none(net: Net) -> None:
    assert read_spec(write_spec(net), "net").transitions[0].delta == net.transitions[0].delta
    verdicts = set()
    for engine in COVER_ENGINES:
        # Backward, a target of 10^999 tokens may be as many steps away.
        result = cover(net, Limits(time.monotonic() + 2, 60), engine)
        if result.run is not None:
            assert engine not in SAFE_ONLY
            assert check_unsafe(net, run_evidence(net, result.run.start, result.run.transitions, result.run.target))
        elif result.invariant is not None:
            assert not isinstance(result.invariant, EnumeratedInvariant)
            assert check_safe(net, invariant_evidence(net, result.invariant))
        else:
            assert result.cut
            continue
        verdicts.add(result.run is not None)
    assert len(verdicts) <= 1


def levels(number: int, weight: int) -> Net:
    """A pump, and levels of which each token costs so many of the level before: what one at the top costs is their power."""
    rules = [({0: 1}, {0: -1, 1: 1}), ({1: 1}, {2: 1})]
    rules += [({2 + i: weight}, {2 + i: -weight, 3 + i: 1}) for i in range(number)]
    return make_net(number + 3, rules, [1] + [0] * (number + 2), [{number + 2: 1}])


@pytest.mark.parametrize("engine", ["auto", "forward", "karp-miller"])
@pytest.mark.parametrize("kernels", [KERNELS, (PYTHON,)], ids=["any", "python"])
@pytest.mark.parametrize(
    ("number", "weight"),
    [(40, 10**9), (20, 2**59), (3, 10**200), (3, 10**999)],
    ids=["many-levels", "machine-words", "doubles", "digits"],
)
def test_what_costs_more_than_floating_point_can_say(
    number: int, weight: int, kernels: tuple[Kernel, ...], engine: str
) -> None:
    """Once the price of a token was infinite, the target was taken to be out of reach."""
    net = levels(number, weight)
    result = cover(net, Limits(states=2_000), engine, kernels=kernels)
    assert result.run is not None
    assert result.run.length > weight**number
    assert check_unsafe(net, run_evidence(net, result.run.start, result.run.transitions, result.run.target))


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_price_is_never_infinite_where_something_adds(kernel: Kernel) -> None:
    for number, weight in ((40, 10**9), (3, 10**17)):
        core = slice_net(levels(number, weight)).core
        relaxation = kernel.relaxation(core)
        start = tuple((p, k) for p, k in enumerate(core.initial) if k)
        length, used = relaxation.plan(start)
        assert length > 0
        assert {t for t, _ in used} == set(range(len(core.guards)))
        assert len(relaxation.limit(start)) == len(core.initial)


@pytest.mark.parametrize("engine", ["auto", "karp-miller"])
def test_answers_too_long_to_be_written_are_none(engine: str) -> None:
    assert cover(levels(5, 10**999), engine=engine).cut == "digits"
    net = levels(1, 10**999)
    assert cover(net, engine=engine).run is not None


def test_the_command_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"deep": levels(9, 10**999), "flat": levels(1, 10**999), "huge": huge_exchange()}
    for name, net in files.items():
        (tmp_path / f"{name}.spec").write_text(write_spec(net))
    paths = [str(tmp_path / f"{name}.spec") for name in files]
    proofs = str(tmp_path / "proofs")
    assert run(["cover", "--jobs", "1", "--format", "json", "--markings", "--certificate", proofs, *paths]) == 3
    records = json.loads(capsys.readouterr().out)["results"]
    assert [record["verdict"] for record in records] == ["unknown", "unsafe", "safe"]
    assert "4,000 digits" in records[0]["reason"]
    assert run(["cover", "--jobs", "1", "--markings", "-v", paths[1]]) == 1
    assert str(10**999) in capsys.readouterr().out.replace(",", "").replace(" ", "").replace("\n", "")
    assert run(["verify-certificate", proofs]) == 0


def huge_exchange() -> Net:
    """Two places that exchange huge numbers one for one: what they hold together never changes."""
    big = 10**999
    there = NetTransition("there", vector({0: big}), vector({0: -big, 1: big}))
    back = NetTransition("back", vector({1: big}), vector({0: big, 1: -big}))
    return Net("exchange", ("a", "b"), (there, back), (3 * big, 0), (3 * big, 0), (vector({0: 2 * big, 1: 2 * big}),))
