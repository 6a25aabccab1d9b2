"""How many stores buffers hold by the text, and that like stores of a word's only writer count once."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.prove.path_replay import shows
from rdma_robust.analyses.prove.prove import decide_safety, most_room
from rdma_robust.analyses.prove.safety_outcome import Safety
from rdma_robust.analyses.prove.store_bounds import most_stores, written_alone
from rdma_robust.certify.safety.safety_invariants import check_safe
from rdma_robust.evidence.of_safety import safety_certificate
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program


def stores(text: str, *, per_word: bool = False) -> int | None:
    return most_stores(load_program(f"node M {{ x, y }}\nthread T on M {{ reg r; {text} }}\n", "f.rdma"), per_word=per_word)


@pytest.mark.parametrize(
    ("text", "tso", "pso"),
    [
        ("x = 1; x = 2; y = 1", 3, 2),
        ("x = 1; mfence; y = 1; y = 2", 2, 2),
        ("x = 1; if r == 0 { x = 2; x = 3 } else { y = 1 }; y = 2", 4, 3),
        ("x = 1; r = faa(y, 1); x = 2; x = 3", 2, 2),
        ("loop { r = x }; x = 1", 1, 1),
        ("loop { x = 1 }", None, None),
        ("loop { x = 1; mfence }", 1, 1),
    ],
)
def test_a_text_without_storing_loops_bounds_its_buffers(text: str, tso: int | None, pso: int | None) -> None:
    assert (stores(text), stores(text, per_word=True)) == (tso, pso)


def test_room_grows_beyond_eight_only_where_the_text_says_that_it_ends() -> None:
    straight = load_program(f"node M {{ x }}\nthread T on M {{ {'; '.join(f'x = {i}' for i in range(20))} }}\n", "f.rdma")
    endless = load_program("node M { x }\nthread T on M { loop { x = 1; x = 2 } }\n", "f.rdma")
    assert (most_room(straight, "tso"), most_room(straight, "sc"), most_room(endless, "tso")) == (20, 8, 8)


def test_words_with_one_writer() -> None:
    program = load_program(
        "node M { x, y, z }\nthread T on M { reg r; x = 1; y = 1; r = z }\nthread U on M { reg r; r = faa(y, 1) }\n",
        "f.rdma",
    )
    assert {cell.name for cell in written_alone(program)} == {"x"}


LANDED = """node M { f, g }
thread A on M { reg r; f = 1; f = 1; f = 1; r = faa(g, 1) }
thread B on M { reg r, s; r = g; s = f; assert r == 0 || s == 0 }
"""


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_runs_have_every_like_store_again(model: AnyModelName) -> None:
    program = load_program(LANDED, "f.rdma")
    outcome = decide_safety(program, model)
    assert outcome.safety is Safety.UNSAFE and outcome.run is not None and outcome.claim is not None
    assert shows(program, outcome.run, outcome.claim)


ONCE = "node M { f }\nthread A on M { loop { f = 1 } }\nthread B on M { reg r; loop { r = f; assert r == 0 || r == 1 } }\n"


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_like_stores_without_end_are_proved_and_certified(model: AnyModelName) -> None:
    program = load_program(ONCE, "f.rdma")
    outcome = decide_safety(program, model)
    assert outcome.safety is Safety.SAFE
    certificate = safety_certificate(outcome, None)
    assert certificate is not None and "states" in check_safe(program, model, certificate.evidence)


def test_like_stores_of_two_writers_stay_apart() -> None:
    """The second store of A lands behind that of B."""
    program = load_program(
        "node M { x, go }\nthread A on M { x = 1; x = 1; go = 1 }\nthread B on M { x = 2 }\n"
        "thread C on M { reg a, b, c; a = x; b = x; c = x; assert !(a == 1 && b == 2 && c == 1) }\n",
        "f.rdma",
    )
    assert decide_safety(program, "tso").safety is Safety.UNSAFE
