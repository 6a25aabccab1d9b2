"""States as text: what is written can be read, and nothing else can."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdma_robust import parse
from rdma_robust.teaching.explorer.address import LONGEST_TEXT, AddressError, ExplorerPlace, Track, decode, encode
from rdma_robust.teaching.explorer.run_tree import LONGEST
from rdma_robust.teaching.explorer.session import Session
from tests.conftest import ROOT
from tests.support.explored import litmus

P = "0123abcd"


@st.composite
def tracks(draw: st.DrawFn) -> Track:
    choices = tuple(draw(st.lists(st.integers(0, 9999), max_size=20)))
    return Track(choices, draw(st.integers(0, len(choices))))


@st.composite
def places(draw: st.DrawFn) -> ExplorerPlace:
    if draw(st.booleans()):
        return ExplorerPlace("follow", draw(tracks()))
    return ExplorerPlace("free", draw(tracks()), draw(tracks()))


@settings(max_examples=80, deadline=None)
@given(places())
def test_what_is_written_can_be_read(place: ExplorerPlace) -> None:
    assert decode(encode(place, P), P) == place


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(), st.text("0123.&=", max_size=12).map(f"p={P}&mode=follow&rdma=".__add__)))
def test_any_text_is_a_place_or_refused(text: str) -> None:
    try:
        place = decode(text, P)
    except AddressError:
        return
    assert not text or decode(encode(place, P), P) == place


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nonsense", "not a state of an exploration"),
        ("mode=sideways", "the mode of a state is follow or free, not `sideways`"),
        ("mode=\x1b[31m", "not `\\x1b[31m`"),
        ("p=0123abcd&mode=follow&rdma=0", "each once"),
        ("p=0123abcd&mode=follow&rdma=0&at=0&at=0", "each once"),
        ("p=0123abcd&mode=follow&rdma=0&at=0&sc=&scat=0", "each once"),
        ("p=ffffffff&mode=follow&rdma=0&at=0", "another program"),
        ("p=0123abcd&mode=follow&rdma=0&at=2", "at step 2 of a run of 1"),
        ("p=0123abcd&mode=follow&rdma=-1&at=0", "small numbers, not `-1`"),
        ("p=0123abcd&mode=follow&rdma=0..1&at=0", "small numbers, not ``"),
        ("p=0123abcd&mode=follow&rdma=99999&at=0", "small numbers"),
        ("p=0123abcd&mode=follow&rdma=%D9%A1&at=0", "small numbers"),
        ("p=0123abcd&mode=follow&rdma=<script>&at=0", "small numbers"),
        ("p=0123abcd&mode=follow&rdma=" + ".".join("0" * (LONGEST + 1)) + "&at=0", "none has more than 1000"),
        ("a=" + "b" * LONGEST_TEXT, "characters"),
        ("&".join("a=b" for _ in range(20)), "not a state"),
    ],
)
def test_what_is_refused_and_why(text: str, why: str) -> None:
    with pytest.raises(AddressError) as refusal:
        decode(text, P)
    assert why in str(refusal.value)
    assert len(str(refusal.value)) < 250


def test_a_run_that_the_machine_does_not_have_is_refused() -> None:
    explored = litmus("mailbox-plain")
    good = explored.address(ExplorerPlace("follow", Track((0, 0, 1), 2)))
    assert explored.place(good).rdma.now == (0, 0)
    with pytest.raises(AddressError, match="RDMA machine cannot run this state: step 3 is choice 7, but there are 2 moves"):
        explored.place(good.replace("0.0.1", "0.0.7"))
    with pytest.raises(AddressError, match="SC machine cannot run this state: step 1 is choice 3, but there is one move"):
        explored.place(explored.address(ExplorerPlace("free", Track(), Track((3,), 1))))


SHARED = re.compile(r"^rdma-robust explore (\S+\.rdma) --state '([^']+)'$", re.MULTILINE)


def test_the_states_that_the_documentation_shares_are_states() -> None:
    """The documentation runs no server, so that nobody would notice."""
    found = [
        each for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")] for each in SHARED.findall(path.read_text())
    ]
    assert found
    for file, state in found:
        session = Session(parse((ROOT / file).read_text(encoding="utf-8"), file))
        assert session.seen(state).address == state
