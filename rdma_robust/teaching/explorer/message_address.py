"""The state of an exploration of a message program as text that fits in an address: what has been chosen, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from rdma_robust.messages.language.message_program import BUFFERS, Buffer, MessageProgram
from rdma_robust.teaching.explorer.address import OF_ANOTHER, AddressError, Track, address_parts, dotted, track_of
from rdma_robust.text import one_line

START: Final = Track()
_KEYS: Final = ("p", "buffer", "run", "at")


@dataclass(frozen=True, slots=True)
class MessagePlace:
    """Where an exploration is: a run, and under which buffer semantics."""

    buffer: Buffer
    run: Track = START


def message_fingerprint(program: MessageProgram) -> str:
    """Return eight hexadecimal digits that other programs, and other values of constants, hardly ever have."""
    return sha256(program.source.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def message_address(place: MessagePlace, fingerprint: str) -> str:
    """Return the text of a place in the program with this fingerprint."""
    return f"p={fingerprint}&buffer={place.buffer}&run={dotted(place.run)}&at={place.run.at}"


def message_place(text: str, fingerprint: str, start: Buffer) -> MessagePlace:
    """Return the place that :func:`message_address` has written; the empty text is the beginning under `start`.

    Raises AddressError. That the program can run the choices is not looked at.
    """
    if not text:
        return MessagePlace(start)
    pairs = address_parts(text)
    if sorted(key for key, _ in pairs) != sorted(_KEYS):
        raise AddressError(f"a state of a message program has the parts {', '.join(_KEYS)}, each once")
    fields = dict(pairs)
    buffer = next((each for each in BUFFERS if each == fields["buffer"]), None)
    if buffer is None:
        raise AddressError(f"the buffer of a state is zero, infinite or any, not `{one_line(fields['buffer'])}`")
    if fields["p"] != fingerprint:
        raise AddressError(OF_ANOTHER)
    return MessagePlace(buffer, track_of(fields["run"], fields["at"]))
