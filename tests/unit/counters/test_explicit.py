"""Explicit VASS: enumeration of a control graph, the net, JSON and DOT."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from rdma_robust.counters.explicit import Cone, ExplicitVass, VassEdge, explicit_vass, to_net, write_dot
from rdma_robust.counters.explicit_json import read_vass_json, vass_json
from rdma_robust.counters.lower import LoweredProgram, lower
from rdma_robust.counters.searches import karp_miller
from rdma_robust.counters.vass import CounterEffect
from rdma_robust.errors import ProgramError, SizeLimitError
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA
from rdma_robust.petri.spec.reader import read_spec
from rdma_robust.petri.spec.writer import write_spec
from rdma_robust.robustness.pivot import instrument_pivot
from tests.conftest import ROOT
from tests.support.naive_backward import reaches

SCHEMA = json.loads((ROOT / "rdma_robust/schema/vass.schema.json").read_text())

PUMP = ExplicitVass(
    name="pump",
    states=("idle", 'say "go"\\'),
    counters=("c", "d"),
    edges=(
        VassEdge(0, 0, CounterEffect((0, 0), (1, 0)), "pump"),
        VassEdge(0, 1, CounterEffect((3, 0), (-2, 1)), "swap"),
        VassEdge(1, 0, CounterEffect((0, 1), (0, 0))),
    ),
    initial=0,
    start=(0, 10**30),
    targets=(Cone(1, (1, 10**30 + 4)), Cone(1, (0, 7))),
)


def lowered(name: str) -> LoweredProgram[object]:
    path = ROOT / "litmus" / name
    return lower(instrument_pivot(load_program(path.read_text(encoding="utf-8"), name), RDMA))


@pytest.mark.parametrize("name", ["mailbox-plain.rdma", "mailbox-polled.rdma"])
def test_the_control_graph_has_what_a_search_sees(name: str) -> None:
    vass = lowered(name)
    graph = explicit_vass(vass, Limits(), name=name, counters=vass.unbounded, edge_name=lambda t: str(vass.labels[t]))
    searched = karp_miller(vass, Limits(), reduce=False)
    assert bool(graph.targets) == (searched.target >= 0)
    assert graph.counters == vass.unbounded
    left = {cone.state for cone in graph.targets}
    assert all(edge.source not in left for edge in graph.edges)
    reached = {graph.initial} | {edge.target for edge in graph.edges}
    assert reached == set(range(len(graph.states)))
    if not graph.targets and not vass.dimension:
        assert (len(graph.states), len(graph.edges)) == (searched.states, searched.transitions)


@pytest.mark.parametrize(
    "name",
    [
        "mp-put",
        "barrier-two-spin",
        "rendezvous-polled",
        "polls-loop-phases",
        "polls-puzzle-exchange",
        "order-nlr-cpu-polled",
    ],
)
def test_the_net_covers_what_the_search_reaches(name: str) -> None:
    vass = lowered(f"{name}.rdma")
    net = to_net(explicit_vass(vass, Limits(), counters=vass.unbounded))
    assert reaches(read_spec(write_spec(net), name)) is (karp_miller(vass, Limits()).target >= 0)


def test_limits_end_the_enumeration_with_a_message() -> None:
    vass = lowered("mailbox-polled.rdma")
    with pytest.raises(SizeLimitError, match="more than 5 control states"):
        explicit_vass(vass, Limits(states=5))
    with pytest.raises(SizeLimitError, match="time limit"):
        explicit_vass(vass, Limits(deadline=0.0))


def test_the_net_has_one_token_on_its_control_places() -> None:
    net = to_net(PUMP)
    assert net.places == ("idle", 'say "go"\\', "c", "d")
    assert net.least == net.most == (1, 0, 0, 10**30)
    assert [t.guard for t in net.transitions] == [((0, 1),), ((0, 1), (2, 3)), ((1, 1), (3, 1))]
    assert [t.delta for t in net.transitions] == [((2, 1),), ((0, -1), (1, 1), (2, -2), (3, 1)), ((0, 1), (1, -1))]
    assert net.targets == (((1, 1), (2, 1), (3, 10**30 + 4)), ((1, 1), (3, 7)))
    (weights,) = net.weights
    for transition in net.transitions:
        assert sum(dict(weights).get(place, 0) * change for place, change in transition.delta) == 0


def test_json_round_trip_and_schema() -> None:
    text = vass_json(PUMP)
    Draft202012Validator(SCHEMA).validate(json.loads(text))
    assert read_vass_json(text, "pump.json") == PUMP
    empty = ExplicitVass("", ("q",), (), (), 0, (), ())
    assert read_vass_json(vass_json(empty), "empty.json") == empty
    vass = lowered("mailbox-plain.rdma")
    graph = explicit_vass(vass, Limits())
    assert read_vass_json(vass_json(graph), "x") == graph


def wrong(**members: object) -> str:
    return json.dumps(json.loads(vass_json(PUMP)) | members)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "x.json:1:2: error: not JSON"),
        ("[]", "must be an object with the members"),
        (wrong(version=2), "`format` and `version` must be"),
        (wrong(more=1), "must be an object with the members"),
        (wrong(states=["a", "a"]), "states names something twice"),
        (wrong(states="ab"), "states must be a list"),
        (wrong(initial={"state": 2, "counters": [0, 0]}), "initial.state is 2, and there are 2 states"),
        (wrong(initial={"state": 0, "counters": [0]}), "has 1 entries, and there are 2 counters"),
        (wrong(initial={"state": True, "counters": [0, 0]}), "initial.state must be an integer"),
        (wrong(targets=[{"state": 0, "counters": [0, -1]}]), r"targets\[0\].counters has a negative number"),
        (wrong(edges=[{"source": 0, "target": 0, "guard": [0, 0], "delta": [-1, 0], "name": "e"}]), "subtracts more"),
        (wrong(edges=[{"source": 0, "target": 0, "guard": [0, 0], "delta": [0.5, 0], "name": "e"}]), "must be an integer"),
        ("[" * 100_000, "not an explicit VASS"),
        (wrong(version=1)[:-1] + ', "name": ' + "9" * 5000 + "}", "not an explicit VASS"),
    ],
)
def test_bad_json_is_explained(text: str, said: str) -> None:
    with pytest.raises(ProgramError, match=said):
        read_vass_json(text, "x.json")


def test_dot_names_everything_and_quotes_it() -> None:
    text = write_dot(PUMP)
    assert r'label="say \"go\"\\\nc >= 1, d >= 1000000000000000000000000000004\nd >= 7", peripheries=2' in text
    assert r'q0 -> q1 [label="swap\nc >= 3\nc -= 2, d += 1"];' in text
    assert 'start -> q0 [label="d = 1000000000000000000000000000000"];' in text
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    assert outside.count("{") == outside.count("}") == 1
    assert outside.count("[") == outside.count("]")


def test_names_can_be_given() -> None:
    vass = lowered("mailbox-plain.rdma")
    graph = explicit_vass(vass, Limits(), state_name=lambda i, control: f"s{i}_{len(control)}")
    assert graph.states[0] == f"s0_{len(vass.initial)}"
    assert replace(graph, states=()) == replace(explicit_vass(vass, Limits()), states=())
