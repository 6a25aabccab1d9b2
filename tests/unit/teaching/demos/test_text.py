"""The terminal writer: every kind of block, widths, moves left out, harmless output."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.teaching.demos.walk import (
    Animation,
    Block,
    CodeListing,
    Figure,
    Paragraph,
    WalkSection,
    WalkTable,
    Walkthrough,
    walk_parts,
)
from tests.support.walks import animation, litmus, random_run


def shown(*blocks: Block, width: int = 80, all_moves: bool = False) -> list[str]:
    walk = Walkthrough("x", "Title", "rdma-robust demo x", (WalkSection("Heading", blocks),))
    return [line for part in walk_parts(walk, width, all_moves=all_moves) for line in part]


def test_headings_are_underlined_and_paragraphs_filled() -> None:
    lines = shown(Paragraph("word " * 40), width=40)
    assert lines[:6] == ["Title", "=====", "", "Heading", "-------", ""]
    assert max(map(len, lines)) <= 40
    assert " ".join(lines).count("word") == 40


def test_listings_and_figures_keep_their_lines() -> None:
    lines = shown(CodeListing("A program:", "rdma", "node A {\n  x\n}\n"), Figure("A net:", "<svg/>", "p -> q"))
    assert lines[5:] == ["", "A program:", "  node A {", "    x", "  }", "", "A net:", "  p -> q", ""]


@pytest.mark.parametrize("width", [40, 60, 120])
def test_tables_fit_the_width(width: int) -> None:
    rows = (("ab", "a, b, [bold] and many others that do not fit"), ("b", "c"))
    lines = shown(WalkTable("Words:", ("sent", "received"), rows), width=width)
    assert max(map(len, lines)) <= width
    assert "[bold]" in "".join(lines)


def run(every: int) -> Animation:
    program = litmus("mailbox-polled")
    return animation(program, random_run(program, Random(3), 12), every=every)


def test_only_moves_with_a_note_are_shown_unless_all_are_asked_for() -> None:
    few, full = run(5), run(1)
    lines = shown(few)
    numbers = [int(line.split()[0]) for line in lines if line.strip()[:1].isdigit()]
    assert numbers == [k for k, note in enumerate(few.notes) if note]
    shown_moves = sum(number > 0 for number in numbers)
    assert f"({few.length - shown_moves} of its {few.length} moves are left out" in " ".join(lines)
    everything = shown(few, all_moves=True)
    assert len([line for line in everything if line.strip()[:1].isdigit()]) == len(few.moves)
    assert "left out" not in " ".join(shown(full))


def test_each_move_says_who_and_what() -> None:
    text = "\n".join(shown(run(1), all_moves=True))
    assert "Sender CPU" in text
    assert "Sender NIC" in text
    assert "posts put B.d = v" in text


def test_control_characters_are_made_visible() -> None:
    text = "\n".join(
        shown(Paragraph("a\x1b[2Jb"), CodeListing("\x07", "rdma", "\x1b]0;x"), WalkTable("", ("\x1b",), (("\u202e",),)))
    )
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[2J" in text
