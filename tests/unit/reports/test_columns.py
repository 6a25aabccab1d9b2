"""Tables fit the terminal, break no word, and are one line a row where there is no terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rdma_robust.frame.formats.columns import Column, Columns, of_files
from rdma_robust.text import filled, padded, width_of

WIDE = (Column("file", 10), Column("verdict", 10), Column("engine", rank=2), Column("time", 9, rank=1, right=True))
CELLS = ("a.rdma", "NOT ROBUST", "dfs", "0.10 s")


def test_without_a_width_every_row_is_one_line_with_all_columns() -> None:
    columns = Columns(WIDE, None)
    (head,) = columns.head()
    assert head.split() == ["file", "verdict", "engine", "time"]
    (row,) = columns.row(("x" * 90, *CELLS[1:]), "a note " * 40)
    assert row.startswith("x" * 90 + "  NOT ROBUST  dfs        0.10 s  a note")


def test_columns_go_by_rank() -> None:
    assert Columns(WIDE, 41).head() == ["file        verdict     engine       time"]
    assert Columns(WIDE, 40).head() == ["file        verdict          time"]
    assert Columns(WIDE, 30).head() == ["file        verdict"]
    assert Columns(WIDE, 30).row(CELLS) == ["a.rdma      NOT ROBUST"]
    assert not Columns(WIDE, 20).fit


def test_what_is_too_long_has_lines_of_its_own() -> None:
    columns = Columns((of_files(["a.rdma", "b" * 50], 40), *WIDE[1:]), 40)
    assert columns.row(("b" * 50, *CELLS[1:])) == ["b" * 50, f"{'':20}  NOT ROBUST"]
    assert columns.row(CELLS, "why: " + "it is so " * 6) == [
        f"{'a.rdma':20}  NOT ROBUST",
        "    why: it is so it is so it is so it",
        "    is so it is so it is so",
    ]
    assert columns.row(CELLS, "why") == [f"{'a.rdma':20}  NOT ROBUST  why"]


def test_words_wrap_within_their_column() -> None:
    columns = Columns((Column("line", 7), Column("claim", 60, wraps=True), Column("", 8)), 40, "  ")
    assert columns.row(("line 12", "T1.r == 0 && T2.r == 0 : forbidden", "holds")) == [
        "  line 12  T1.r == 0 && T2.r    holds",
        "           == 0 : forbidden",
    ]


def test_wide_characters_take_two_places() -> None:
    assert width_of("環") == 2
    assert padded("環", 4) == "環  "
    columns = Columns((of_files(["環境.rdma"], 80), Column("verdict")), 80)
    assert columns.row(("環境.rdma", "robust")) == ["環境.rdma  robust"]


WORDS = st.lists(st.text("abc-.", min_size=1, max_size=9), max_size=8).map(" ".join)


@given(
    st.lists(st.tuples(WORDS, st.integers(0, 3), st.booleans()), min_size=1, max_size=6),
    st.integers(40, 120),
    WORDS,
)
def test_no_line_is_too_wide_and_no_word_is_lost(cells: list[tuple[str, int, bool]], width: int, note: str) -> None:
    columns = [Column("h", len(text), rank, wraps=wraps) for text, rank, wraps in cells]
    table = Columns(columns, width)
    lines = table.row([text for text, _, _ in cells], note)
    if table.fit:
        assert all(len(line) <= width for line in lines)
    said = " ".join(lines).split()
    kept = [word for text, rank, _ in cells if not rank for word in text.split()]
    assert not set(kept + note.split()) - set(said)


def test_paragraphs_keep_words_whole() -> None:
    assert filled("one-two " + "x" * 30, 10) == ["one-two", "x" * 30]
