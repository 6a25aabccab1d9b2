"""The C library: searching texts, comparing memory, what a process is told from outside, and functions of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.c.evaluate import word_copies
from rdma_robust.c.evaluate.c_values import Object, Pointer, Scalar, UnknownValue, known_scalar, map_one
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, as_number
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.operations import ThreadStatement
from rdma_robust.c.evaluate.refused_code import Refusal

_UTSNAME: Final = 390
"""Bytes of `struct utsname`."""


def _searched(find: Callable[[bytes, bytes], int], *, is_byte: bool) -> Handler:
    """`strchr` and the like: the place in a text where another one, or a character, is; 0 if it is nowhere."""

    def handler(call: CallContext) -> Result:
        wanted = bytes([call.number(1, "this character") & 0xFF]) if is_byte else call.content(1)
        try:
            text = call.content(0) + b"\0" * is_byte
        except Refusal:
            return UnknownValue(f"what `{call.name}` returns")
        at, start = find(text, wanted), known_scalar(call.arguments[0])
        assert isinstance(start, Pointer)
        return Pointer(start.object, start.offset + at) if at >= 0 else 0

    return handler


def _compared(call: CallContext) -> Result:
    """`memcmp`: memory that others reach is read first, word by word."""
    size = call.number(2, "the size of this memory")
    if not size:
        return 0
    sides = [_side(call, index, size) for index in (0, 1)]
    if call.frame.pending is None:
        reads: list[ThreadStatement] = []
        for index, (name, offset) in enumerate(sides):
            if name.kind != "text" and call.run.is_visible(call.state, name, offset, size):
                copy = _copy(call, index, size)
                call.state.place(copy, ObjectBytes())
                call.run.world.sizes[copy] = size
                reads += word_copies.copied(call.run, call.state, (copy, 0), (name, offset), size)
        if reads:
            return call.stay(reads, 1)
    found = _difference(call, sides, size)
    for index in (0, 1):
        call.state.drop(_copy(call, index, size))
    return found


def _side(call: CallContext, index: int, size: int) -> tuple[Object, int]:
    copy = _copy(call, index, size)
    return (copy, 0) if copy in call.state.memory else call.address(index, "what is compared")


def _copy(call: CallContext, index: int, size: int) -> Object:
    return Object("handle", call.run.process, "compared", (call.run.thread, index, size))


def _difference(call: CallContext, sides: list[tuple[Object, int]], size: int) -> Scalar:
    for at in range(size):
        left, right = (known_scalar(call.run.raw_read(call.state, name, offset + at, 1)) for name, offset in sides)
        unknown = next((each for each in (left, right) if isinstance(each, UnknownValue)), None)
        if unknown is not None:
            return unknown
        if left != right:
            return 1 if as_number(left, "what is compared") > as_number(right, "what is compared") else -1
    return 0


def _environment(call: CallContext) -> Result:
    """`getenv`: programs of OpenSHMEM and MPI are run without arguments, and without variables that they ask for."""
    if not call.run.world.units.libraries:
        return UnknownValue("what `getenv` returns")
    call.run.world.remark("RR846", f"the environment is taken to have no `{call.text(0)}`", call.chain)
    return 0


def _option(call: CallContext) -> Result:
    """`getopt`: a program that is run without arguments has no options, and `optind` is behind its name."""
    if known_scalar(call.arguments[0]) != 1:
        return UnknownValue(f"what `{call.name}` returns")
    for variable in call.run.world.globals.values():
        if variable.name == "optind":
            name = call.run.world.global_of(call.run.process, variable)
            call.state.place(name, ObjectBytes({0: (4, 1)}))
    return -1


def _named(call: CallContext) -> Result:
    """`uname`: the names of a machine are not known."""
    name, offset = call.address(0, "where the name of the machine goes")
    if call.run.is_visible(call.state, name, offset, _UTSNAME):
        raise Refusal("RR814", f"`uname` into `{name.name}`, which others can reach, is not modelled")
    call.run.raw_write(call.state, name, offset, _UTSNAME, UnknownValue("the name of this machine"))
    return 0


def _of_number(compute: Callable[[float], float]) -> Handler:
    """A function of a number. What it gives where it has no value is not known."""

    def changed(value: Scalar) -> Scalar:
        if not isinstance(value, int | float):
            return value if isinstance(value, UnknownValue) else UnknownValue("a function of an address")
        try:
            return compute(value)
        except (ValueError, OverflowError):
            return UnknownValue("a function of a number outside of its range")

    return lambda call: map_one(call.arguments[0], changed)


_EXACT: Final[Mapping[str, Callable[[float], float]]] = {
    "fabs": abs,
    "sqrt": math.sqrt,
    "ceil": lambda each: float(math.ceil(each)),
    "floor": lambda each: float(math.floor(each)),
}
"""Functions that IEEE 754 says the value of, to the last bit."""
TEXTS: Final[Mapping[str, Handler]] = {
    **dict.fromkeys(("strchr", "index"), _searched(bytes.find, is_byte=True)),
    **dict.fromkeys(("strrchr", "rindex"), _searched(bytes.rfind, is_byte=True)),
    "strstr": _searched(bytes.find, is_byte=False),
    "memcmp": _compared,
    "getenv": _environment,
    **dict.fromkeys(("getopt", "getopt_long", "getopt_long_only"), _option),
    "uname": _named,
    **dict.fromkeys(("abs", "labs", "llabs"), _of_number(abs)),
    **{name: _of_number(compute) for name, compute in _EXACT.items()},
    **{f"{name}f": _of_number(compute) for name, compute in _EXACT.items()},
}
