"""What single programs show: a walk of the static filter, a hang that only the hardware has, a message that is lost; and
the passes that every program goes through."""

from __future__ import annotations

from sitegen.figures.kit import Canvas


def walk() -> Canvas:
    """The walk in the conflict graph of litmus/sb-put-plain.rdma, and the edge that a flush takes away."""
    c = Canvas(860, 300, "A walk in the conflict graph")
    c.group((20, 20, 370, 220), "T1 on A")
    c.group((470, 20, 370, 220), "T2 on B")
    c.box((60, 60, 220, 44), "put B.y = 1: nrW y", "cpu code")
    c.box((60, 166, 220, 44), "r = x: lR x", "cycle filled code")
    c.box((580, 60, 220, 44), "put A.x = 1: nrW x", "nic code")
    c.box((580, 166, 220, 44), "r = y: lR y", "cpu code")
    c.text(290, 193, "pivot m", "strong cycle")
    c.text(560, 87, "s, in β", "end strong nic")
    c.text(560, 193, "in α", "end strong cpu")
    c.text(290, 80, "in α", "strong cpu")
    c.arrow((280, 172), (576, 98), look="rb thick")
    c.text(376, 164, "conflict", "rb")
    c.arrow((690, 104), (690, 162), look="po thick dashed")
    c.text(700, 130, "po, overtaking:", "muted")
    c.text(700, 147, "not kept", "muted")
    c.arrow((580, 170), (284, 94), look="rb thick")
    c.text(376, 108, "conflict", "rb")
    c.arrow((170, 104), (170, 162), look="po thick dashed")
    c.text(178, 138, "po, forward in σ", "muted")
    c.text(20, 270, "With get and polls behind each put the read can no longer overtake it: there is no such walk,", "muted")
    c.text(20, 289, "and the program is robust without a search (sb-put-flushed).", "muted")
    return c


def hang() -> Canvas:
    """The run of late-message.rdma in docs/theory-hangs.md that ends in a state at rest with a blocked thread."""
    c = Canvas(860, 330, "A hang that only the hardware has")
    c.group((20, 20, 820, 110), "the run, under RDMA")
    steps = (
        ("posts put\nB.data = v", "cpu"),
        ("v = 2", "cpu"),
        ("NIC reads v = 2,\nB.data = 2", "cycle filled"),
        ("B.flag = 1\nlands", "nic"),
        ("Receiver:\nflag == 1", "cpu"),
    )
    for place, (text, look) in enumerate(steps):
        c.box((36 + place * 160, 54, 144, 60), text, look)
        if place:
            c.arrow((20 + place * 160, 84), (32 + place * 160, 84))
    c.group((20, 160, 400, 150), "local graph of Sender")
    c.group((440, 160, 400, 150), "local graph of Receiver")
    c.box((50, 205, 110, 44), "ended", "ok filled")
    c.prose(180, 223, ("no edge, and nothing to do:", "that is no hang by itself"), "muted")
    c.box((470, 205, 150, 44), "await data == 1", "cycle filled code")
    c.prose(640, 223, ("data = 2, no edge:", "blocked forever"), "cycle")
    c.text(50, 290, "Nothing is in flight: the state is drained and at rest.", "muted")
    c.text(470, 290, "Under SC the put takes v = 1 at once.", "muted")
    return c


def lost() -> Canvas:
    """Why a put is not a message: two of them meet in one word before anybody looks."""
    c = Canvas(860, 250, "A put is not a message")
    c.group((20, 20, 250, 210), "Sender")
    c.group((300, 20, 250, 210), "queue pair, in order")
    c.group((580, 20, 260, 210), "Receiver")
    for y, symbol in ((60, "a"), (115, "b")):
        c.box((45, y, 200, 40), f"put B.symbol = {symbol}", "cpu code")
        c.arrow((245, y + 20), (345, y + 20), look="nic")
        c.box((349, y, 150, 40), f"symbol = {symbol}", "nic code")
        c.arrow((499, y + 20), (606, y + 20), look="nic")
    c.box((610, 60, 200, 40), "a lands", "dashed")
    c.box((610, 115, 200, 40), "b lands, a is gone", "cycle filled")
    c.box((610, 172, 200, 40), "s = symbol reads b", "cpu")
    c.arrow((710, 155), (710, 168))
    c.prose(45, 192, ("If nothing lands between two", "reads, a is received twice."), "muted")
    return c


PASSED = (
    (("parse", "the program"), ("await", "waiting loops"), ("events", "one an edge"), ("filter", "which pivots")),
    (
        ("instrument", "counters"),
        ("lower", "a VASS"),
        ("cover", "search"),
        ("lift", "run to trace"),
        ("confirm", "by axioms"),
        ("hangs", "a note"),
    ),
)
"""The passes in their order, and what each is about."""


def passes() -> Canvas:
    """The passes of a check, and where the answers come from."""
    c = Canvas(900, 250, "The passes of a check")
    for row, names in enumerate(PASSED):
        for place, (name, does) in enumerate(names):
            x, y = 20 + place * 147, 20 + row * 110
            c.box((x, y, 125, 54), f"{name}\n{does}", "cpu" if row == 0 else "nic")
            if place:
                c.arrow((x - 22, y + 27), (x - 4, y + 27))
    c.arrow((523, 74), (523, 100), (82, 100), (82, 126))
    c.arrow((586, 47), (626, 47), look="ok thick")
    c.text(634, 43, "no class of pivots is left:", "ok")
    c.text(634, 61, "robust", "strong ok")
    c.arrow((376, 184), (376, 212), look="ok thick")
    c.text(376, 232, "exhausted: robust; cut: unknown", "middle ok")
    c.arrow((670, 184), (670, 212), look="cycle thick")
    c.text(670, 232, "confirmed: not robust", "middle cycle")
    return c
