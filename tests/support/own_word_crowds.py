"""Random templates whose copies decide by words of their own, which their cards read and write as well."""

from __future__ import annotations

from random import Random

HARDWARE = ("", "", "cpu tso", "atomics glob", "order multipath", "order relaxed", "reads ordered", "cpu tso, atomics glob")


def own_word_crowd(rng: Random) -> str:
    """Return a program with a template `C` on `NC[*]`, sometimes with another one `W` and a thread `T` on the server."""
    far = rng.random() < 0.4
    own = ["p", "q"][: rng.randint(1, 2)]
    body = [_statement(rng, own, ["S.x", "S.y"] + ["D.z"] * far) for _ in range(rng.randint(2, 5))]
    if rng.random() < 0.2:
        body = ["loop {", *body, "}"]
    hardware = rng.choice(HARDWARE)
    lines = [
        *([f"hardware {hardware}"] if hardware else []),
        f"node S {{ x = {rng.choice('01')}, y }}",
        *(["node D { z }"] if far else []),
        f"node NC[*] {{ {', '.join(f'{word} = {rng.randint(0, 1)}' for word in own)} }}",
        *(_thread("T", "S", "q", [_local(rng) for _ in range(rng.randint(1, 3))]) if rng.random() < 0.5 else []),
        *_thread("C[*]", "NC[*]", "r", body),
        *(_thread("W[*]", "S", "q", [_local(rng) for _ in range(rng.randint(1, 2))]) if rng.random() < 0.25 else []),
    ]
    return "\n".join(lines) + "\n"


def _thread(name: str, node: str, register: str, body: list[str]) -> list[str]:
    return [f"thread {name} on {node} {{", f"reg {register}", *body, "}"]


def _statement(rng: Random, own: list[str], words: list[str]) -> str:
    p, q, x = rng.choice(own), rng.choice(own), rng.choice(words)
    v, w = rng.choice("01"), rng.choice("01")
    forms = (
        f"{p} = {v}",
        f"get {p} = {x}",
        f"get {p} = {x}",
        f"put {x} = {p}",
        f"put {x} = {p}",
        f"r = {p}",
        f"assume {p} == {v}",
        f"await {p} == {v}",
        f"assume r == {v}",
        f"poll {x[0]}",
        f"poll {x[0]}",
        f"rfence {x[0]}",
        f"get {p} = cas({x}, {v}, {w})",
        f"r = cas({p}, {v}, {w})",
        f"get {p} = swap({x}, {v})",
        f"if r == {v} {{ {p} = {w} }} else {{ put {x} = {q} }}",
        f"put {x} = {v}",
        "mfence",
        f"put {x} = {p} inline",
        f"put {x} = {p} unsignaled",
    )
    return rng.choice(forms)


def _local(rng: Random) -> str:
    word, v, w = rng.choice("xy"), rng.choice("01"), rng.choice("01")
    return rng.choice((f"{word} = {v}", f"q = {word}", f"q = cas({word}, {v}, {w})", f"assume {word} == {v}"))
