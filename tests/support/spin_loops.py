"""Random programs of two threads that wait for one another in loops as people write them, and in loops that only look so."""

from __future__ import annotations

from random import Random

CONDITIONS = ("s == 0", "s != 1", "s < q", "s + t < 2", "t == s", "!(s == 1 || t == 1)", "s / 2 == t", "1 - s")
READS = ("s = {x}", "t = {y}", "s = {x}; t = {y}", "t = {y}; s = {x}", "t = s; s = {x}")
ASIDE = (
    "n = n + 1",
    "{x} = 1",
    "put {there} = 1; poll {node}",
    "assert s == 0",
    "q = s",
    "mfence",
    "r = faa({x}, 1)",
    "poll {node}",
    "if t == 1 { {y} = 0 }",
    "await {y} == 0",
    "s = s",
    "if s == 0 { q = 1 }",
    "halt",
    "{r} = 0",
)
FORMS = (
    "{read}; while {cond} { {read}{aside} }",
    "while {cond} { {read}{aside} }",
    "s = 0; while {cond} { {read}{aside} }",
    "while {x} == 0 { {aside2} }",
    "while {x} != 1 { t = {y}{aside} }",
    "loop { {read}; assume {cond}{aside} }; {read}; assume !({cond})",
    "loop { s = {x}{aside} }; await {x} != 0",
    "while s == 0 { s = {x}; if s == 0 { t = {y}{aside} } }",
    "s = 0; while s == 0 { while t == 0 { t = {y} }; s = {x}{aside} }",
    "while q == 0 { q = trypoll {node}{aside} }",
    "q = 0; while q == 0 { q = trypoll {node}; s = {x}{aside} }",
    "choose { {read}; while {cond} { {read} } } or { s = 1 }",
    "while ring[t] == 0 { t = {y}{aside} }",
)
AFTER = ("r = s", "r = t", "{x} = s", "put {there} = t", "s = 0", "if n > 1 { r = 1 }", "r = {y}", "skip")


def spinning_program(rng: Random) -> str:
    """Return the text of a program that often, but not always, loads; the same for the same state of `rng`."""
    lines = ["domain 0..2", "node A { a, b, ring[2] }", "node B { c, d, ring[2] }"]
    for name, node, other, words, away in (("P", "A", "B", "ab", "cd"), ("Q", "B", "A", "cd", "ab")):
        x, y = rng.sample(words, 2)
        there = f"{other}.{rng.choice(away)}"
        aside = f"; {rng.choice(ASIDE)}" if rng.random() < 0.35 else ""
        loop = rng.choice(FORMS).replace("{read}", rng.choice(READS)).replace("{cond}", rng.choice(CONDITIONS))
        loop = loop.replace("{aside2}", aside[2:] or "skip").replace("{aside}", aside)
        before = f"put {there} = 1" if rng.random() < 0.7 else "r = 1"
        if rng.random() < 0.4:
            before += f"; {rng.choice(words)} = 1"
        body = f"{before}; {loop}; {rng.choice(AFTER)}"
        for key, value in {"x": x, "y": y, "there": there, "node": other, "r": rng.choice("qrn")}.items():
            body = body.replace("{" + key + "}", value)
        lines += [f"thread {name} on {node} {{", "  reg s, t, q, r, n", f"  {body}", "}"]
    return "\n".join(lines) + "\n"
