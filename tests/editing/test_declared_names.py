"""Names in every place where they may stand, told without the checker of programs."""

from __future__ import annotations

import pytest

from rdma_robust.editing.declared_names import DeclaredNames, renaming, typing_offers
from rdma_robust.editing.hovers import hover
from rdma_robust.errors import ProgramError
from rdma_robust.frame.editor import RenameError
from rdma_robust.language.load import load_program
from tests.conftest import ROOT

TEXT = """\
const N = 2
node A { v = 1, l = 0 }
node B { d[N] = 0 }
macro lock(w, k) {
  reg t = 1
  while t != 0 {
    t = cas(w, 0, k)
  }
}
thread T on A {
  reg r
  lock(l, 1)
  for i in 0..N-1 {
    put B.d[i] = v
    poll B
  }
  for i in 0..1 { r = i }
}
outcome T.r == 1 && B.d[1] == N : allowed under rdma
"""


def lines(word: str, after: int = 0) -> list[int]:
    """Return the lines where what stands at `word` is named."""
    names = DeclaredNames(TEXT)
    found = names.at(TEXT.index(word) + after)
    assert found is not None
    return [o.span.line for o in names.of(found.symbol)]


def test_every_kind_of_name() -> None:
    assert lines("N = 2") == [1, 3, 13, 19]
    assert lines("B {") == [3, 14, 15, 19]
    assert lines("d[N]") == [3, 14, 19]
    assert lines("lock(w") == [4, 12]
    assert lines("w, k") == [4, 7]
    assert lines("t = 1") == [5, 6, 7]
    assert lines("l = 0") == [2, 12]
    assert lines("i in 0..N") == [13, 14]
    assert lines("i in 0..1") == [17, 17]
    assert lines("r\n") == [11, 17, 19]


@pytest.mark.ci
def test_every_name_of_the_litmus_suite_is_known() -> None:
    """Programs without errors have no name that means nothing."""
    from rdma_robust.language.syntax.grammar import load_grammar  # noqa: PLC0415

    words = {*load_grammar().keywords.values(), "hang", "no", "in", "for", "macro"}
    for path in sorted((ROOT / "litmus").glob("*.rdma")):
        text = path.read_text(encoding="utf-8")
        names = DeclaredNames(text)
        known = {(o.span.start, o.span.end) for o in names.occurrences}
        program = names.tree.items[0]
        named = getattr(getattr(program, "name", None), "span", None)
        for token in load_grammar().lex(text):
            place = (token.start_pos, token.end_pos)
            if token.type == "NAME" and str(token) not in words and (named is None or named.start != place[0]):
                assert place in known, f"{path.name}:{token.line}: {token}"


def test_a_call_shows_the_events_of_its_expansion() -> None:
    shown = hover(TEXT, TEXT.index("lock(l") + 1)
    assert shown is not None and "**CAS**: the CPU reads and writes `A.l`" in shown.text


def test_what_may_come_next() -> None:
    def offered(word: str, after: int) -> set[str]:
        return {offer.text for offer in typing_offers(TEXT, TEXT.index(word) + after)}

    assert {"w", "k", "t", "N", "B"} <= offered("t = cas", 4) and "r" not in offered("t = cas", 4)
    assert {"i", "r", "v", "lock"} <= offered("r = i }", 4) and "t" not in offered("r = i }", 4)
    assert offered("poll B", 5) == {"A", "B"}


def test_renaming_changes_nothing_else() -> None:
    for symbol in DeclaredNames(TEXT).symbols:
        after, shift = TEXT, 0
        for span in renaming(TEXT, symbol.span.start, "fresh"):
            after = after[: span.start + shift] + "fresh" + after[span.end + shift :]
            shift += len("fresh") - (span.end - span.start)
        try:
            load_program(after, "one.rdma")
        except ProgramError as error:
            pytest.fail(f"{symbol.qualified}: {error}")


@pytest.mark.parametrize(("word", "new"), [("r\n", "v"), ("v = 1", "l"), ("t = 1", "w"), ("i in 0..N", "v"), ("N = 2", "9")])
def test_renaming_to_what_is_taken_is_refused(word: str, new: str) -> None:
    with pytest.raises(RenameError):
        renaming(TEXT, TEXT.index(word), new)


LABELLED = """\
node A { x = 0 }
node B { y = 0 }
macro cs(L) { L: skip }
macro ready() { set: x = 1 }
thread T on A {
  reg at
  set: at = swap(x, 1)
  cs(in)
  flush B
}
thread U on A { ready(); w: mfence }
invariant !(T at set && U at w) || T ended || U at set
"""


def test_labels_are_names_too() -> None:
    def named(word: str, after: int = 0) -> list[int]:
        names = DeclaredNames(LABELLED)
        found = names.at(LABELLED.index(word) + after)
        assert found is not None
        return [o.span.line for o in names.of(found.symbol)]

    assert named("set: at") == [7, 12]
    assert named("set: x") == [4, 12]
    assert named("w: mf") == [11, 12]
    assert named("L: skip") == [3, 3]
    assert named("T ended") == [5, 12, 12]
    assert named("B\n}") == [2, 9]
    assert {s.text for s in typing_offers(LABELLED, LABELLED.index("U at set") + 5)} == {"set", "w"}
    assert {s.text for s in typing_offers(LABELLED, LABELLED.index("flush B") + 6)} == {"A", "B"}
    assert [span.line for span in renaming(LABELLED, LABELLED.index("w: mf"), "out")] == [11, 12]
    with pytest.raises(RenameError):
        renaming(LABELLED, LABELLED.index("w: mf"), "set")


COPIES = """\
node Server { lock = 0 }
node Client[*] { mine = 1 }
thread C[*] on Client[*] {
  reg r
  cs: r = mine
  put Server.lock = mine
}
invariant count(C at cs) <= 1 || !(some C: r == 1 && mine == 1) || Server.lock == 1
"""


def test_names_in_conditions_on_copies_are_those_of_the_copy() -> None:
    names = DeclaredNames(COPIES)
    last = COPIES.index("invariant")
    meant = [(COPIES[o.span.start : o.span.end], o.symbol.kind, o.symbol.span.line) for o in names.occurrences]
    assert [each for each, o in zip(meant, names.occurrences, strict=True) if o.span.start > last] == [
        ("C", "thread", 3),
        ("cs", "label", 5),
        ("C", "thread", 3),
        ("r", "register", 4),
        ("mine", "variable", 2),
        ("Server", "node", 1),
        ("lock", "variable", 1),
    ]
    assert [span.line for span in renaming(COPIES, COPIES.index("r == 1"), "got")] == [4, 5, 8]


def test_what_is_for_proofs_has_words_too() -> None:
    for word, said in (("flush B", "taken effect"), ("mfence", "store buffers"), ("invariant", "every reachable state")):
        shown = hover(LABELLED, LABELLED.index(word))
        assert shown is not None and said in shown.text
    shown = hover(LABELLED, LABELLED.index("= swap"))
    assert shown is not None and "**CAS**" in shown.text


FAMILY = """\
const N = 2
node Hub { turn = 0 }
node Peer[i in 0..N - 1] { word = i, seen = 0 }
thread P[i in 0..N - 1] on Peer[i] {
  reg r = i
  put Peer[(i + 1) % N].seen = word; poll Peer[(i + 1) % N]
  for k in 0..i { put Hub.turn = k }
}
node Client[*] { mine = 1 }
thread C[*] on Client[*] { reg q; put Hub.turn = mine }
outcome P[N - 1].r == 1 && Peer[0].word == 0 : allowed under sc when P == N && C >= N
expect robust when C == 2 && N == 1
"""


def test_names_of_families() -> None:
    """Every declared name can be renamed everywhere, and the program stays the same but for it."""
    names = DeclaredNames(FAMILY)
    found = {symbol.qualified: [o.span.line for o in names.of(symbol)] for symbol in names.symbols}
    assert found["N"] == [1, 3, 4, 6, 6, 11, 11, 11, 12]
    assert (found["Peer"], found["Peer.i"]) == ([3, 4, 6, 6, 11], [3, 3])
    assert (found["P"], found["P.i"]) == ([4, 11, 11], [4, 4, 5, 6, 6, 7])
    assert (found["C"], found["Client"]) == ([10, 11, 12], [9, 10])
    assert all(FAMILY[o.span.start : o.span.end] == o.symbol.name for o in names.occurrences)
    same = load_program(FAMILY, "t")
    for symbol in names.symbols:
        changed = FAMILY
        for span in reversed(renaming(FAMILY, symbol.span.start, "other")):
            changed = changed[: span.start] + "other" + changed[span.end :]
        assert len(load_program(changed, "t").threads) == len(same.threads)
    begun = "node A[i in 0..1] { xyz }\nthread T on A[0] { A[1]."
    assert {offer.text for offer in typing_offers(begun, len(begun))} == {"xyz"}
    shown = hover(FAMILY, FAMILY.index("poll Peer"))
    assert shown is not None
    assert "Peer[0]" in shown.text


QUEUE_PAIRS = """\
hardware cpu tso, rnr wait, send depth 4
node H { f }
node G via H { d }
node S { x }
thread T on S {
  qp bulk to H, ctl to H
  put G.d = x on bulk
  poll bulk or ctl or H
  order H
  send x to U on ctl
  barrier T, U
  start U
}
thread U on H {
  qp other to S
  posted f from T on ctl
  rpoll T on ctl
  flush other
}
"""


@pytest.mark.parametrize(
    ("before", "offered"),
    [
        ("hardware ", {"cpu", "atomics", "order", "reads", "rnr"}),
        ("hardware cpu tso, rnr ", {"fault", "wait"}),
        ("node G via ", {"H", "G", "S"}),
        ("qp bulk to H, ctl to ", {"H", "G", "S"}),
        ("put G.d = x on ", {"bulk", "ctl"}),
        ("poll bulk or ", {"bulk", "ctl", "H", "G", "S"}),
        ("order ", {"bulk", "ctl", "H", "G", "S"}),
        ("send x to ", {"T", "U"}),
        ("barrier T, ", {"T", "U"}),
        ("start ", {"T", "U"}),
        ("thread U on ", {"H", "G", "S"}),
        ("posted f from T on ", {"bulk", "ctl"}),
        ("rpoll T on ", {"bulk", "ctl"}),
        ("flush ", {"other", "H", "G", "S"}),
    ],
)
def test_names_are_offered_where_they_may_stand(before: str, offered: set[str]) -> None:
    at = QUEUE_PAIRS.index(before) + len(before)
    assert {offer.text for offer in typing_offers(QUEUE_PAIRS, at)} == offered


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("rnr wait", "finds no buffer"),
        ("cpu tso", "wait in a buffer"),
        ("send depth", "room for N requests"),
        ("G via", "behind the NIC of that other node"),
        ("bulk to H", "lane of T"),
        ("barrier T", "Waits until all of these threads"),
        ("order H", "before it take effect before those behind it"),
        ("flush other", "has taken effect"),
        ("start U", "Lets a thread begin"),
    ],
)
def test_new_words_say_what_they_mean(word: str, said: str) -> None:
    shown = hover(QUEUE_PAIRS, QUEUE_PAIRS.index(word) + 1)
    assert shown is not None and said in " ".join(shown.text.split())
