"""Texts of C: `strlen`, `strcpy`, `snprintf`, `strtol` and their like, and what `printf` reads.

Known texts are made and read as they are. Of memory that others reach a text is read word by word, until it ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate import word_copies
from rdma_robust.c.evaluate.c_values import Pointer, Scalar, UnknownValue, Value, canonical, in_bytes, known_scalar, map_one
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, as_number, further
from rdma_robust.c.evaluate.operations import read_statement
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.round_facts import WIDEST
from rdma_robust.c.evaluate.thread_run import text_of

_CHARACTER = CType("int", 1)
_BYTES = "latin-1"
"""The encoding in which a character is a byte, as it is in C."""
_PLACES = 1 << 20
"""More than the bytes of a text that is read word by word."""
Judge = Callable[[int, bytes], int | None]
"""What some bytes of a text, at a place of it, say of the whole: a number that is not negative, or nothing yet."""


# texts that others reach


def _is_reached(call: CallContext, address: Value) -> bool:
    """Whether others reach the first byte of a text."""
    found = known_scalar(address)
    return isinstance(found, Pointer) and call.run.is_visible(call.state, found.object, found.offset, 1)


def _scanned(
    call: CallContext, address: Value, judge: Judge, at_end: int, *, limit: int | None = None, number: int = 0
) -> Result:
    """Read words of a text that others reach until `judge` has an answer, which is the value; `at_end` it is that.

    What is pending is the answer, or, as a negative number, how far text `number` of a call is read.
    """
    name, offset = call.run.address(address, "this text")
    size = call.run.world.sizes.get(name, 0) - offset
    size = size if limit is None else min(size, limit)
    pending = None if call.frame.pending is None else known_scalar(call.frame.pending)
    if isinstance(pending, UnknownValue) or (isinstance(pending, int) and pending >= 0):
        return pending
    at = -pending - number * _PLACES if isinstance(pending, int) else 0
    if at >= size:
        return at_end
    call.run.own(name, "read")
    word = call.run.world.words(name, offset + at, min(WIDEST, size - at))[0]
    call.run.note(call.state, name, word.offset, word.size, is_write=False)
    call.run.kind_of_access(word, _CHARACTER)
    register, raw = call.run.read_word(call.state, word, name.name)

    def judged(value: Scalar) -> Scalar:
        if not isinstance(value, int):
            return UnknownValue(f"`{name.name}`, which holds an address here")
        found = judge(at, (value & (1 << 8 * word.size) - 1).to_bytes(word.size, "little"))
        return -(at + word.size + number * _PLACES) if found is None else found

    return call.stay([read_statement(register, word)], map_one(raw, judged))


def _end_of_text(at: int, read: bytes) -> int | None:
    return at + read.index(0) if 0 in read else None


def _strlen(call: CallContext) -> Result:
    if not _is_reached(call, call.arguments[0]):
        return len(call.content(0))
    name, offset = call.address(0, "this text")
    return _scanned(call, call.arguments[0], _end_of_text, call.run.world.sizes.get(name, 0) - offset)


def _compared(limit_at: int | None) -> Handler:
    """`strcmp` and `strncmp`: of a text that others reach with one that is known, or of two known ones."""

    def handler(call: CallContext) -> Result:
        reached = [each for each in (0, 1) if _is_reached(call, call.arguments[each])]
        limit = None if limit_at is None else call.number(limit_at, "the number of characters")
        if len(reached) != 1:
            left, right = ((call.content(each) + b"\0")[:limit] for each in (0, 1))
            return (left > right) - (left < right)
        known = (call.content(1 - reached[0]) + b"\0")[:limit]
        sign = 1 if reached == [0] else -1
        found = _scanned(call, call.arguments[reached[0]], _compare(known), 1, limit=len(known))
        return found - 1 if sign == 1 and isinstance(found, int) else 1 - found if isinstance(found, int) else found

    return handler


def _compare(known: bytes) -> Judge:
    """Compare what is read with known bytes: 0 if it is less, 1 if it is equal to the end, 2 if it is more."""

    def judge(at: int, read: bytes) -> int | None:
        wanted = known[at : at + len(read)]
        read = read[: len(wanted)]
        return None if read == wanted else 2 if read > wanted else 0

    return judge


# texts that are made


def _stored(call: CallContext, content: bytes, value: Value) -> Result:
    """Store a text where the first argument points to; the call gives `value`."""
    if not content:
        return value
    target, source = call.address(0, "where this text goes"), text_of(call.run.process, content)
    operations = word_copies.copied(call.run, call.state, target, (source, 0), len(content))
    return call.step(operations, value) if operations else value


def _strcpy(call: CallContext) -> Result:
    return _stored(call, call.content(1) + b"\0", call.arguments[0])


def _strncpy(call: CallContext) -> Result:
    size = call.number(2, "the number of characters")
    return _stored(call, call.content(1)[:size].ljust(size, b"\0"), call.arguments[0])


def _formatted(format_at: int) -> Handler:
    """`sprintf` and `snprintf`: the text of a known format and known arguments, else one whose bytes are not known."""

    def handler(call: CallContext) -> Result:
        try:
            content = _text_of_format(call, format_at)
        except Refusal as refusal:
            if refusal.code != "RR819":
                raise
            return _lose(call, 0)
        if format_at == 2:
            room = call.number(1, "the size of this text")
            return _stored(call, (content[: room - 1] + b"\0") * (room > 0), len(content))
        return _stored(call, content + b"\0", len(content))

    return handler


_CONVERSION = re.compile(r"%([-+ #0]*+)(\d*+)(\.\d++)?(hh|ll|[hlzjt])?([diuxXocs%])")
_SIZES = {None: 4, "hh": 1, "h": 2}
"""Bytes of a number by the letters that say how long it is; of all others 8."""


def _text_of_format(call: CallContext, format_at: int) -> bytes:
    """Return what a format makes of the arguments behind it. Raises RR819 where that is not known."""
    arguments, found, at, text = iter(call.arguments[format_at + 1 :]), "", 0, call.content(format_at).decode(_BYTES)
    for each in _CONVERSION.finditer(text):
        found, at = found + text[at : each.start()], each.end()
        flags, width, precision, length, kind = each.groups()
        if kind == "%":
            found += "%"
            continue
        value = known_scalar(next(arguments, UnknownValue("an argument that is missing")))
        if kind == "s":
            found += f"%{flags}{width}{precision or ''}s" % _private_text(call, value)
            continue
        size = 1 if kind == "c" else _SIZES.get(length, 8)
        number = in_bytes(as_number(value, "what is printed"), size, kind in "di")
        if kind == "c":
            found += f"%{flags}{width}c" % number
        else:
            found += _printed_number(number, flags, int(width or 0), precision, kind)
    if "%" in _CONVERSION.sub("", text):
        raise Refusal("RR819", "this format is not known here")
    return (found + text[at:]).encode(_BYTES)


def _printed_number(number: int, flags: str, width: int, precision: str | None, kind: str) -> str:
    """Return a number as `%d`, `%o` or `%x` prints it."""
    least = 1 if precision is None else int(precision[1:] or 0)
    digits = format(abs(number), kind if kind in "oxX" else "d") if number or least else ""
    digits = digits.rjust(least, "0")
    sign = "-" if number < 0 else "+" if "+" in flags and kind in "di" else " " if " " in flags and kind in "di" else ""
    if "#" in flags and kind == "o" and not digits.startswith("0"):
        digits = f"0{digits}"
    if "#" in flags and kind in "xX" and number:
        sign = f"0{kind}"
    if "0" in flags and "-" not in flags and precision is None:
        digits = digits.rjust(width - len(sign), "0")
    return (sign + digits).ljust(width) if "-" in flags else (sign + digits).rjust(width)


def _private_text(call: CallContext, address: Scalar) -> str:
    """Return a text. Raises RR814 for one that others reach, RR819 for one that is not known."""
    found = bytearray()
    while byte := as_number(call.private(further(address, len(found)), 1, "this text"), "this text"):
        found.append(byte & 0xFF)
    return found.decode(_BYTES)


def _lost_text(index: int) -> Handler:
    """A call that makes a text of its arguments: its bytes are not known."""
    return lambda call: _lose(call, index)


def _lose(call: CallContext, index: int) -> Result:
    name, offset = call.address(index, "where this text goes")
    size = call.run.world.sizes.get(name, 0) - offset
    if call.run.is_visible(call.state, name, offset, max(size, 1)):
        raise Refusal(
            "RR814",
            f"`{call.name}` of what is not known here, into `{name.name}`, which others can reach, is not modelled",
            "a text that is known, or RR_INSTEAD",
        )
    if size > 0:
        call.state.block(name).write(offset, size, UnknownValue(f"a text that `{call.name}` has made"))
    return UnknownValue(f"what `{call.name}` returns")


_DIRECTIVE = re.compile(r"%[-+ #0]*+(\*|\d*+)(?:\.(\*|\d*+))?(?:hh|ll|[hlzjtL])?([a-zA-Z%])")


def _printed(format_at: int | None) -> Handler:
    """`printf` and `puts`: texts that others reach are read, one after the other."""

    def handler(call: CallContext) -> Result:
        reached = [each for each in _texts_among(call, format_at) if _is_reached(call, each)]
        pending = 0 if call.frame.pending is None else known_scalar(call.frame.pending)
        number = -pending // _PLACES if isinstance(pending, int) else len(reached)
        if number >= len(reached):
            return 0
        behind = -(number + 1) * _PLACES
        found = _scanned(call, reached[number], lambda _, read: behind if 0 in read else None, 0, number=number)
        return found if isinstance(found, list) else call.stay([], behind)

    return handler


def _texts_among(call: CallContext, format_at: int | None) -> list[Value]:
    """Return the arguments that a call prints as texts."""
    if format_at is None:
        return call.arguments[:1]
    try:
        wanted = "".join("*" * each.groups().count("*") + each[3] for each in _DIRECTIVE.finditer(call.text(format_at)))
    except Refusal:
        return []
    return [
        value for kind, value in zip(wanted.replace("%", ""), call.arguments[format_at + 1 :], strict=False) if kind == "s"
    ]


# numbers in texts


_NUMBER = re.compile(r"[ \t-\r]*([+-]?)(0[xX](?=[0-9a-fA-F]))?([0-9a-zA-Z]*)")


def _within_long(value: int) -> int:
    return max(-1 << 63, min(value, (1 << 63) - 1))


def _within_unsigned(value: int) -> int:
    return value if abs(value) < 1 << 64 else -1


def _number_in(has_end: bool, within: Callable[[int], int] = _within_long, size: int = 8) -> Handler:
    """`atoi`, `strtol` and their like: the number that a text begins with, `within` says what there is for one that is too
    long; of a text that is not known it is not known."""

    def handler(call: CallContext) -> Result:
        try:
            text = call.content(0).decode(_BYTES)
        except Refusal:
            return UnknownValue(f"what `{call.name}` returns")
        base = call.number(2, "the base of this number") if has_end else 10
        value, used = _parsed(text, base)
        if has_end and known_scalar(call.arguments[1]) != 0:
            call.set_private(call.arguments[1], 8, further(call.arguments[0], used), "where this number ends")
        return canonical(within(value), size)

    return handler


def _parsed(text: str, base: int) -> tuple[int, int]:
    """Return the number at the start of a text, and how many characters it takes."""
    found = _NUMBER.match(text)
    assert found is not None
    sign, prefix, digits = found.groups()
    if prefix and base not in (0, 16):
        return 0, found.start(2) + 1
    base = base or (16 if prefix else 8 if digits.startswith("0") else 10)
    count = 0
    while count < len(digits) and int(digits[count], 36) < base:
        count += 1
    value = int(digits[:count] or "0", base)
    return -value if sign == "-" else value, found.start(3) + count if count else 0


SHARED_TEXTS: dict[str, Handler] = {
    **dict.fromkeys(("strlen", "__builtin_strlen"), _strlen),
    "strcmp": _compared(None),
    "strncmp": _compared(2),
    "strcpy": _strcpy,
    "strncpy": _strncpy,
    "sprintf": _formatted(1),
    "snprintf": _formatted(2),
    **dict.fromkeys(("vsnprintf", "strcat", "strncat"), _lost_text(0)),
    "inet_ntop": _lost_text(2),
    "printf": _printed(0),
    "fprintf": _printed(1),
    **dict.fromkeys(("puts", "fputs"), _printed(None)),
    "atoi": _number_in(has_end=False, size=4),
    **dict.fromkeys(("atol", "atoll"), _number_in(has_end=False)),
    **dict.fromkeys(("strtol", "strtoll"), _number_in(has_end=True)),
    **dict.fromkeys(("strtoul", "strtoull"), _number_in(has_end=True, within=_within_unsigned)),
}
