"""Programs and nets that are large in one direction each: what a pass that forgets its limits stumbles over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final


def _beside(body: str, first: str = "") -> str:
    """Return a thread of these statements, on register `r` and cells `x` here and `B.y` there, beside one that puts back."""
    return (
        f"{first}node A {{ x = 0 }}\nnode B {{ y = 0 }}\nthread T1 on A {{\n  reg r\n{body}}}\n"
        "thread T2 on B {\n  reg s\n  s = y\n  put A.x = y\n  s = y\n}\n"
    )


def statements(size: int, threads: int = 3) -> str:
    """Return threads of `size` statements each: puts, loads, stores, polls in turn."""
    nodes = "".join(f"node N{i} {{ x{i} = 0, y{i} = 0 }}\n" for i in range(threads))
    parts = []
    for number in range(threads):
        other = (number + 1) % threads
        body = [
            f"  put N{other}.x{other} = y{number}",
            f"  y{number} = {number + 1}",
            f"  r = x{number}",
            f"  poll N{other}",
        ]
        lines = [f"  {body[step % len(body)]}" for step in range(size)]
        parts.append(f"thread T{number} on N{number} {{\n  reg r\n" + "\n".join(lines) + "\n}\n")
    return nodes + "".join(parts)


def many_threads(size: int) -> str:
    """Return `size` threads of store buffering in a ring."""
    return statements(4, threads=max(2, size))


def branches(size: int) -> str:
    """Return two threads with `size` branches one after the other, each with a put."""
    arm = "  choose {{ put B.y = x }} or {{ x = {n} }}\n  r = x\n  if r == {n} {{ put B.z = x }}\n"
    body = "".join(arm.format(n=n % 7) for n in range(size))
    return (
        "node A { x = 0 }\nnode B { y = 0, z = 0 }\n"
        f"thread T1 on A {{\n  reg r\n{body}}}\n"
        "thread T2 on B {\n  reg s\n  y = 1\n  put A.x = z\n  s = y\n  s = z\n}\n"
    )


def loops(size: int) -> str:
    """Return two threads with `size` loops that count polls without a bound."""
    body = "  loop { put B.y = x }\n  loop { poll B }\n" * size
    return _beside(body)


def registers(size: int) -> str:
    """Return a thread with `size` registers that are read from memory and compared with each other."""
    names = ", ".join(f"r{n}" for n in range(size))
    loads = "".join(f"  r{n} = x\n" for n in range(size))
    compared = "".join(f"  if r{n} == r{n + 1} {{ put B.y = x }}\n" for n in range(size - 1))
    return (
        f"node A {{ x = 0 }}\nnode B {{ y = 0 }}\nthread T1 on A {{\n  reg {names}\n{loads}{compared}}}\n"
        "thread T2 on B {\n  reg s\n  put A.x = y\n  y = 1\n  s = y\n}\n"
    )


def cells(size: int) -> str:
    """Return two threads over arrays of `size` cells, with computed indices."""
    body = "  r = a[i]\n  i = r\n  put B.b[i] = a[i]\n  a[i] = 1\n" * 3
    other = "  s = b[j]\n  j = s\n  put A.a[j] = b[j]\n  b[j] = 1\n" * 3
    return (
        f"domain 0..{size - 1}\nnode A {{ a[{size}] = 0 }}\nnode B {{ b[{size}] = 0 }}\n"
        f"thread T1 on A {{\n  reg r, i\n{body}}}\n"
        f"thread T2 on B {{\n  reg s, j\n{other}}}\n"
    )


def deep(size: int) -> str:
    """Return a thread whose expressions are deep."""
    body = "  r = x\n" + f"  r = {'(r + ' * 40}r{')' * 40} == 7\n" * size + "  put B.y = x\n"
    return _beside(body, "domain 0..3\n")


def doubling(size: int) -> str:
    """Return a thread whose register is squared `size` times: huge numbers, and huge expressions."""
    body = "  r = x\n" + "  r = (r * r + r) % 4\n" * size + "  put B.y = x\n  x = r\n"
    return _beside(body, "domain 0..3\n")


def constants(size: int) -> str:
    """Return a program with a constant of `size` digits."""
    digits = "9" * size
    return _beside("  put B.y = x\n  x = BIG\n", f"const BIG = {digits}\n")


def values(size: int) -> str:
    """Return a program whose remote words take `size` values: many states."""
    body = "".join(f"  choose {{ x = {n} }} or {{ x = {n + 1} }}\n  put B.y = x\n  poll B\n" for n in range(size))
    return (
        f"node A {{ x = 0, w = 0 }}\nnode B {{ y = 0, v = 0 }}\nthread T1 on A {{\n  reg r\n{body}  r = w\n}}\n"
        f"thread T2 on B {{\n  reg s\n{body.replace('x', 'v').replace('B', 'A').replace('.y', '.w')}  s = y\n}}\n"
    )


def mistakes(size: int) -> str:
    """Return a program with `size` mistakes."""
    return "node A { x = 0 }\nthread T on A {\n" + "  reg\n  r = = x\n  y = 1 +\n" * size + "}\n"


def comments(size: int) -> str:
    """Return a small program under `size` lines of comment."""
    return "// nothing\n" * size + statements(4, 2)


PROGRAMS: Final[Mapping[str, Callable[[int], str]]] = {
    "statements": statements,
    "threads": many_threads,
    "branches": branches,
    "loops": loops,
    "registers": registers,
    "cells": cells,
    "deep": deep,
    "doubling": doubling,
    "constants": constants,
    "values": values,
    "mistakes": mistakes,
    "comments": comments,
}


def net(size: int, weight: int = 1) -> str:
    """Return a net in the `.spec` format with `size` places in a ring, and rules between all neighbours."""
    places = " ".join(f"p{n}" for n in range(size))
    rules = "".join(
        f"p{n} >= {weight} -> p{n}' = p{n} - {weight}, p{(n + 1) % size}' = p{(n + 1) % size} + {weight};\n"
        for n in range(size)
    )
    initial = ", ".join(f"p{n} = {5 if n == 0 else 0}" for n in range(size))
    target = " , ".join(f"p{n} >= 3" for n in range(min(3, size)))
    return f"vars\n{places}\nrules\n{rules}\ninit\n{initial}\ntarget\n{target}\n"
