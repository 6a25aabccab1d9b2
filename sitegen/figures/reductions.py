"""Reductions: Post's problem as a program, counters from polls."""

from __future__ import annotations

from sitegen.figures.kit import Canvas


def post() -> Canvas:
    """The four threads of the program for an instance of Post's problem."""
    c = Canvas(890, 320, "Post's problem as four threads")
    c.box((20, 120, 150, 80), "Guesser\nany sequence\nof indices", "cpu")
    c.box((330, 30, 170, 80), "Top\nletters of the\ntop words", "cpu")
    c.box((330, 210, 170, 80), "Bottom\nletters of the\nbottom words", "cpu")
    c.box((700, 120, 160, 80), "Checker\nthe same symbol\nfrom both?", "cpu")
    for start, end, symbols, above in (
        ((170, 140), (326, 80), "3 2 3 1 $", True),
        ((170, 180), (326, 240), "3 2 3 1 $", False),
        ((500, 80), (696, 140), "b b a a b b b a a $", True),
        ((500, 240), (696, 180), "b b a a b b b a a $", False),
    ):
        c.arrow(start, end, look="nic thick")
        x = 216 if end[0] == 326 else 650
        c.text(x, 84 if above else 246, symbols, "middle code nic")
    c.text(420, 158, "queue pairs: puts that have", "middle muted")
    c.text(420, 176, "not landed, any number", "middle muted")
    c.text(750, 278, "can end, after two end symbols $,", "middle ok")
    c.text(750, 296, "iff there is a solution", "middle ok")
    return c


def counters_from_polls() -> Canvas:
    """A counter of a vector addition system as the completions of a queue pair."""
    c = Canvas(860, 290, "A counter from puts and polls")
    c.group((20, 20, 380, 250), "vector addition system")
    c.group((460, 20, 380, 250), "program")
    c.box((45, 110, 90, 60), "state p", "cpu")
    c.box((285, 110, 90, 60), "state q", "cpu")
    c.arrow((135, 140), (281, 140), look="thick")
    c.text(208, 130, "x − 1, y + 2", "middle code")
    c.text(45, 220, "counters", "muted")
    c.text(45, 244, "x = 3    y = 0", "code")
    c.arrow((410, 140), (450, 140), look="ok thick")
    c.prose(485, 66, ("assume state == p", "poll x", "put y.tokens = 1", "put y.tokens = 1", "state = q"), "code")
    c.prose(640, 66, ("", "waits for a completion", "one completion", "one completion"), "muted")
    c.text(485, 168, "queue pair to node x: not polled yet", "muted")
    for place in range(3):
        c.box((485 + 66 * place, 178, 56, 28), "put", "nic")
    c.text(485, 234, "A counter is the number of puts to its node", "")
    c.text(485, 252, "that no poll has taken; it is never asked for 0.", "")
    return c
