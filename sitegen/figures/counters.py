"""Counters: completions of a queue pair, acceleration, cones of markings."""

from __future__ import annotations

from sitegen.figures.kit import Canvas


def completions() -> Canvas:
    """The two counters of a queue pair that stand for rule R2."""
    c = Canvas(860, 270, "Two counters for the completions of a queue pair")
    c.text(20, 30, "completions of one queue pair, oldest first", "strong")
    for place in range(7):
        polled, forcing = place < 2, place == 4
        look = "dashed muted" if polled else "cycle filled" if forcing else "nic" if place > 4 else "cpu"
        c.box((20 + place * 118, 48, 100, 44), "polled" if polled else "forcing" if forcing else "not polled", look)
    c.arrow((256, 112), (474, 112), look="cpu plain thick")
    c.text(365, 134, "early: before the first forcing one", "middle cpu")
    c.arrow((256, 156), (828, 156), look="nic plain thick")
    c.text(542, 178, "all that are not polled", "middle nic")
    c.box((20, 204, 390, 46), "a poll of α takes from both: early − 1, all − 1", "cpu")
    c.box((450, 204, 390, 46), "a poll of β takes from the second: all − 1", "nic")
    return c


def karp_miller() -> Canvas:
    """Acceleration for a loop that puts: what can grow forever becomes omega."""
    c = Canvas(860, 330, "Acceleration in the tree of Karp and Miller")
    c.text(20, 32, "loop { put B.y = 1 }  poll B  poll B  poll B", "code strong")
    for x, y, text, look in (
        (20, 60, "loop, 0", "cpu code"),
        (200, 60, "loop, 1", "cpu code"),
        (400, 60, "loop, ω", "ok filled code"),
        (400, 160, "1 polled, ω", "cpu code"),
        (400, 260, "2 polled, ω", "cpu code"),
        (620, 260, "3 polled, ω", "warn filled code"),
    ):
        c.box((x, y, 130, 44), text, look)
    c.arrow((150, 82), (196, 82))
    c.text(173, 74, "put", "middle muted")
    c.arrow((330, 82), (396, 82), look="ok thick")
    c.text(363, 74, "1 > 0", "middle ok")
    c.arrow((530, 72), (562, 72), (562, 92), (534, 92))
    c.text(570, 87, "put", "muted")
    c.arrow((465, 104), (465, 156))
    c.arrow((465, 204), (465, 256))
    c.arrow((530, 282), (616, 282))
    for x, y in ((474, 134), (474, 234)):
        c.text(x, y, "poll: ω − 1 = ω", "muted")
    c.text(573, 274, "poll", "middle muted")
    c.prose(
        20,
        160,
        (
            "(loop, 1) has grown from (loop, 0), and",
            "more completions never disable a step: the",
            "path can be repeated, so the counter is",
            "replaced by ω, any number.",
        ),
    )
    c.prose(20, 262, ("The tree is finite, and a run that reaches", "the target can be read off it."), "muted")
    c.text(685, 250, "target", "middle strong")
    return c


def cones() -> Canvas:
    """Coverability backwards for one rule, p - 3 and q + 2: the cone of the target, and those that lead there."""
    c = Canvas(860, 340, "Cones of markings that lead to the target")
    left, bottom, unit = 60, 290, 44

    def at(p: float, q: float) -> tuple[float, float]:
        return left + p * unit, bottom - q * unit

    top, right = at(0, 5.4)[1], at(8.9, 0)[0]
    for (p, q), look in (((7, 0), "warn"), ((4, 1), "warn"), ((1, 3), "ok")):
        x, y = at(p, q)
        c.area(((x, y), (right, y), (right, top), (x, top)), look)
    c.arrow((left, bottom), (right + 22, bottom), look="thick")
    c.arrow((left, bottom), (left, top - 18), look="thick")
    marks = (
        ((1, 3), "ok", "target: 1, 3"),
        ((4, 1), "warn", "4, 1"),
        ((7, 0), "warn", "7, 0"),
        ((2, 2), "cpu", "start: 2, 2"),
    )
    for (p, q), colour, name in marks:
        x, y = at(p, q)
        c.dot(x, y, colour, 6)
        c.text(x + 10, y + 22 if colour == "cpu" else y - 10, name, f"strong {colour}")
    c.arrow(at(4, 1.15), at(1.15, 2.9), look="dashed")
    c.arrow(at(7, 0.15), at(4.15, 0.95), look="dashed")
    c.text(right + 22, bottom + 26, "tokens on p", "end muted")
    c.text(left - 20, top - 26, "tokens on q", "muted")
    c.text(520, 50, "one rule: p − 3, q + 2", "code strong")
    c.prose(520, 84, ("A marking covers the target if it is in", "its cone: at least as many tokens of all."))
    c.prose(
        520,
        138,
        (
            "With more tokens what could be done can",
            "still be done. So what leads into a cone",
            "by a rule is a cone again.",
        ),
    )
    c.prose(
        520,
        210,
        (
            "No cone is new forever: behind 7, 0 comes",
            "10, 0, which is in it. The start is in none",
            "of them: the net is safe.",
        ),
    )
    return c
