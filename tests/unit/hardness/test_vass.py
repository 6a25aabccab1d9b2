"""A VASS covers a target iff the program compiled from it is not robust."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from rdma_robust.counters.explicit import Cone, ExplicitVass, VassEdge, to_net
from rdma_robust.counters.vass import CounterEffect
from rdma_robust.errors import SizeLimitError
from rdma_robust.hardness.from_vass import (
    MAX_AMOUNT,
    UNROLLED,
    System,
    node_names,
    system_of_net,
    system_of_vass,
    vass_program,
)
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.petri.cover import cover
from rdma_robust.petri.net import Net, NetTransition
from rdma_robust.petri.spec.reader import read_spec
from rdma_robust.pipeline import check_text
from tests.conftest import ROOT
from tests.support.random_nets import random_net
from tests.support.random_vass import random_vass

ROBUST = CheckOptions()
PAPER = CheckOptions(instrumentation="paper")


def is_robust(text: str, options: CheckOptions = ROBUST) -> bool:
    """Return whether the program is robust; it must load without warnings and be in canonical layout."""
    assert format_source(text, "generated") == text
    assert load_program(text, "generated").warnings == ()
    verdict = check_text(text, "generated", options).verdict
    assert verdict is not Verdict.UNKNOWN
    return verdict is Verdict.ROBUST


def covers(net: Net) -> bool:
    result = cover(net)
    assert (result.run is None) != (result.invariant is None)
    return result.run is not None


@pytest.mark.parametrize("seed", range(200, 214))
def test_random_nets(seed: int) -> None:
    net = random_net(Random(seed))
    assert is_robust(vass_program(system_of_net(net)).text) == (not covers(net))


@pytest.mark.parametrize("seed", range(20))
def test_random_vass(seed: int) -> None:
    vass = random_vass(Random(seed))
    assert is_robust(vass_program(system_of_vass(vass)).text) == (not covers(to_net(vass)))


@pytest.mark.parametrize("seed", range(5))
def test_random_vass_by_the_instrumentation_of_the_paper(seed: int) -> None:
    vass = random_vass(Random(seed))
    small = replace(vass, edges=vass.edges[:3])
    assert is_robust(vass_program(system_of_vass(small)).text, PAPER) == (not covers(to_net(small)))


CORPUS = sorted((ROOT / "tests/nets").glob("*.spec"))
GROUPS = ("counter-vass", "init-in", "mutex-sema", "read-arc-", "syntax-no", "kanban-heavy")


@pytest.mark.parametrize("file", [f for f in CORPUS if f.name.startswith(GROUPS)], ids=lambda f: f.stem)
def test_nets_with_known_answers(file: Path) -> None:
    text = file.read_text(encoding="utf-8", errors="replace")
    safe = re.search(r"# expect: (safe|unsafe)", text)
    assert safe is not None
    assert is_robust(vass_program(system_of_net(read_spec(text, file.name))).text) == (safe[1] == "safe")


def counter(amount: int, start: int, asks: int) -> System:
    """A counter from which `amount` are taken at once; the target is a token of another, given each time."""
    net = Net(
        "counter",
        ("heap", "prize"),
        (NetTransition("take", ((0, amount),), ((0, -amount), (1, 1))),),
        (start, 0),
        (start, 0),
        (((1, asks),),),
    )
    return system_of_net(net)


@pytest.mark.parametrize("amount", [UNROLLED, UNROLLED + 1, 20])
def test_large_amounts_are_counted_in_a_loop(amount: int) -> None:
    enough, one_short = (vass_program(counter(amount, 2 * amount - less, 2)).text for less in (0, 1))
    assert not is_robust(enough)
    assert is_robust(one_short)
    assert ("while" in enough) == (2 * amount > UNROLLED)
    assert len(vass_program(counter(999, 999, 1)).text) < 1.05 * len(vass_program(counter(90, 90, 1)).text)


def test_amounts_beyond_all_measure_are_refused() -> None:
    with pytest.raises(SizeLimitError, match="1,001 tokens at once are too many"):
        vass_program(counter(MAX_AMOUNT + 1, MAX_AMOUNT + 1, 1))


def test_programs_beyond_the_limits_of_the_language_are_refused() -> None:
    rules = tuple(NetTransition(f"t{i}", ((0, 3),), ((0, -3), (1, 3))) for i in range(5000))
    with pytest.raises(SizeLimitError, match="5,000 rules"):
        vass_program(system_of_net(Net("many", ("a", "b"), rules, (3, 0), (3, 0), (((1, 1),),))))
    names = tuple(f"p{i}" for i in range(5000))
    with pytest.raises(SizeLimitError, match="5,000 counters"):
        vass_program(system_of_net(Net("wide", names, (), (0,) * 5000, (None,) * 5000, (((1, 1),),))))


def test_what_is_not_refused_loads() -> None:
    rules = tuple(NetTransition(f"t{i}", ((0, 1),), ((0, -1), (1, 3))) for i in range(300))
    text = vass_program(system_of_net(Net("many", ("a", "b"), rules, (3, 0), (3, 0), (((1, 1),),)))).text
    assert len(load_program(text, "many").threads[0].graph) > 900


def test_names_become_names_of_the_language() -> None:
    wanted = ("poll", "Leader", "p.1", "p_1", "unpolled[T>N]", "", "7up", "x", "unpolled_T_N", "Gadget")
    names = node_names(wanted)
    assert names[3] == "p_1" and names[7] == "x" and names[8] == "unpolled_T_N"
    assert len(set(names)) == len(names)
    vass = ExplicitVass(
        "odd",
        ("a b", "\n*/"),
        wanted,
        (VassEdge(0, 1, CounterEffect((0,) * 10, (1,) * 10), "go // on\nno"),),
        0,
        (0,) * 10,
        (Cone(1, (1,) * 10),),
    )
    encoding = vass_program(system_of_vass(vass))
    assert not is_robust(encoding.text)
    assert encoding.nodes == names
    assert "is the counter unpolled[T>N]." in encoding.text


def test_the_simulation_without_the_gadget_is_robust() -> None:
    for seed in range(300, 305):
        text = vass_program(system_of_net(random_net(Random(seed)))).text
        assert is_robust(text.replace("  g = 1\n", "  skip\n"))


def test_the_expected_verdict_is_written_if_it_is_known() -> None:
    system = counter(1, 1, 1)
    assert vass_program(system, robust=False).text.endswith("\nexpect not robust\n")
    assert vass_program(system, robust=True).text.endswith("\nexpect robust\n")
    assert "expect" not in vass_program(system).text
