"""The envelope that every certificate has: read without trust.

Every kind of proof has the same envelope: what it is about (`input`), what is proved (`claim`), under which model and
options (`options`), and the proof (`evidence`). Claim and evidence are objects with a `kind`; what else they hold,
that kind says.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn, TypeVar

from rdma_robust.certify.hardware import ATOMICITIES, CPUS, ORDERS, Platform
from rdma_robust.certify.own_tables import UnreadableTable, is_own_table
from rdma_robust.errors import RdmaRobustError
from rdma_robust.text import json_mistake

FORMAT: Final = "rdma-robust/certificate"
VERSION: Final = 2

GZIP: Final = b"\x1f\x8b"
"""How a compressed document begins."""

LARGEST: Final = 1 << 30
"""Bytes of a document once decompressed."""

PROGRAM: Final = "rdma"
"""The kind of an input that is the text of a program."""

GRAPHS: Final = "flow-graphs"
"""The kind of an input that is a program without a text: what is hashed is its canonical form."""

NET: Final = "spec"
"""The kind of an input that is the text of a net."""

MESSAGES: Final = "mp"
"""The kind of an input that is the text of a message program."""

MODEL: Final[Mapping[str, tuple[str, ...]]] = {
    "network": ("rdma",),
    "cpu": CPUS,
    "atomics": ATOMICITIES,
    "order": ORDERS,
}
"""The memory models of which the checker knows the rules, but for the order of two gets (`ordered_reads`)."""

JsonObject = dict[str, object]
Item = TypeVar("Item")


class InvalidCertificate(RdmaRobustError):
    """The certificate does not prove what it claims; the message says why."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate whose envelope is known to be well-formed; what its kinds hold is still to be looked at.

    `file` is the file that was checked, relative to the folder of the certificate, None if there was none.
    """

    input: str
    file: str | None
    sha256: str
    claim: Mapping[str, object]
    options: Mapping[str, object]
    evidence: Mapping[str, object]

    @property
    def about(self) -> tuple[str, str]:
        """The kind of the input and that of the claim."""
        return self.input, str(self.claim["kind"])


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """The options of `check` on which a verdict about a program depends: the hardware, and how loops that wait are read."""

    platform: Platform
    await_loops: bool


def read_program_options(value: Mapping[str, object]) -> ProgramOptions:
    """Return the options of a certificate about a program. Raises InvalidCertificate for a model that is not known."""
    found = json_members(value, "`options`", ("model", "await_loops"))
    model = json_members(found["model"], "`options.model`", (*MODEL, "ordered_reads"))
    own = isinstance(model["order"], str) and is_own_table(model["order"])
    named = {word: known for word, known in MODEL.items() if word != "order" or not own}
    words = {word: json_word(model[word], f"`options.model.{word}`", known) for word, known in named.items()}
    ordered = json_truth(model["ordered_reads"], "`options.model.ordered_reads`")
    order = string(model["order"], "`options.model.order`")
    try:
        platform = Platform(words["cpu"], words["atomics"], order, ordered)
        platform.own  # noqa: B018 - an order that is no table is refused here
    except UnreadableTable as error:
        reject(f"`options.model.order` is no table of orders: {error}")
    return ProgramOptions(
        platform,
        json_truth(found["await_loops"], "`options.await_loops`"),
    )


def content_digest(text: str) -> str:
    """Return the SHA-256 of a program or net, in hexadecimal: of its text in UTF-8, without a byte order mark.

    Bytes of a net's comments that are no UTF-8 (lone surrogates in `text`) count as they are.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def read_document(data: bytes) -> Certificate:
    """Return the certificate in `data`. Raises InvalidCertificate unless its envelope is exactly as the format says."""
    found = mapping(_json(data), "the certificate")
    for name in ("format", "version"):
        if name not in found:
            reject(f"the certificate has no member {name!r}")
    if found["format"] != FORMAT:
        reject(f"its format is {_short(found['format'])}, not {FORMAT!r}")
    version = found["version"]
    if version != VERSION or not _is_int(version):
        older = "; make it anew with `check --certificate` or `cover --certificate`" if version == 1 else ""
        reject(f"its version is {_short(version)}, and this tool knows version {VERSION}{older}")
    top = json_members(found, "the certificate", ("format", "version", "tool", "input", "claim", "options", "evidence"))
    tool = json_members(top["tool"], "`tool`", ("name", "version", "kernel"))
    for name in tool:
        string(tool[name], f"`tool.{name}`")
    source = json_members(top["input"], "`input`", ("kind", "file", "sha256"))
    return Certificate(
        string(source["kind"], "`input.kind`"),
        None if source["file"] is None else string(source["file"], "`input.file`"),
        string(source["sha256"], "`input.sha256`"),
        _of_a_kind(top["claim"], "`claim`"),
        mapping(top["options"], "`options`"),
        _of_a_kind(top["evidence"], "`evidence`"),
    )


def _of_a_kind(value: object, where: str) -> Mapping[str, object]:
    found = mapping(value, where)
    if "kind" not in found:
        reject(f"{where} has no member 'kind'")
    string(found["kind"], f"{where}.kind")
    return found


def reject(reason: str) -> NoReturn:
    raise InvalidCertificate(reason)


def json_members(value: object, where: str, names: tuple[str, ...], *more: tuple[str, ...]) -> Mapping[str, object]:
    """Return the object `value` if it has exactly the members `names`, or those and all of some groups of `more`."""
    if not isinstance(value, dict):
        reject(f"{where} is {_short(value)}, not an object")
    for group in more:
        names += group if any(name in value for name in group) else ()
    for name in names:
        if name not in value:
            reject(f"{where} has no member {name!r}")
    for name in value:
        if name not in names:
            reject(f"{where} has an unknown member {_short(name)}")
    return value


def mapping(value: object, where: str) -> Mapping[str, object]:
    return value if isinstance(value, dict) else reject(f"{where} is {_short(value)}, not an object")


def json_array(value: object, where: str, item: Callable[[object, str], Item]) -> list[Item]:
    """Return the elements of the array `value`, each as `item` reads it."""
    if not isinstance(value, list):
        reject(f"{where} is {_short(value)}, not an array")
    return [item(each, f"{where}[{i}]") for i, each in enumerate(value)]


def string(value: object, where: str) -> str:
    return value if isinstance(value, str) else reject(f"{where} is {_short(value)}, not a string")


def integer(value: object, where: str) -> int:
    return value if _is_int(value) and isinstance(value, int) else reject(f"{where} is {_short(value)}, not an integer")


def natural(value: object, where: str) -> int:
    number = integer(value, where)
    return number if number >= 0 else reject(f"{where} is {_short(number)}, which is negative")


def json_truth(value: object, where: str) -> bool:
    return value if isinstance(value, bool) else reject(f"{where} is {_short(value)}, not true or false")


Choice = TypeVar("Choice", bound=str)


def json_word(value: object, where: str, choices: tuple[Choice, ...]) -> Choice:
    for choice in choices:
        if value == choice:
            return choice
    return reject(f"{where} is {_short(value)}, not one of {', '.join(choices)}")


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _short(value: object) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "an array"
        case int() if not isinstance(value, bool) and value.bit_length() > 100:
            return "a number of more than 30 digits"
        case _:
            text = json.dumps(value)
            return text if len(text) <= 60 else text[:60] + "..."


def _json(data: bytes) -> object:
    try:
        return json.loads(
            _decompressed(data).decode("utf-8"),
            object_pairs_hook=_unique,
            parse_float=lambda text: reject(f"it contains the number {text[:30]}, which is no integer"),
            parse_constant=lambda text: reject(f"it contains {text}, which is no number"),
        )
    except UnicodeDecodeError:
        reject("it is not UTF-8")
    except RecursionError:
        reject("it is nested too deeply")
    except ValueError as error:
        where = f", line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        reject(f"it is not JSON: {json_mistake(error)}{where}")


def _unique(pairs: list[tuple[str, object]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        more = Counter(name for name, _ in pairs)
        reject(f"an object has the member {_short(next(name for name, number in more.items() if number > 1))} twice")
    return found


def _decompressed(data: bytes) -> bytes:
    if not data.startswith(GZIP):
        return data
    stream = zlib.decompressobj(wbits=31)
    try:
        plain = stream.decompress(data, LARGEST)
    except zlib.error as error:
        reject(f"it is not a gzip file: {error}")
    if stream.unconsumed_tail:
        reject(f"it has more than {LARGEST >> 20} MiB when decompressed")
    if not stream.eof:
        reject("it is a gzip file that was cut short")
    if stream.unused_data:
        reject("something follows the gzip data")
    return plain
