"""The JSON document that every certificate is: read without trust, written in one fixed form."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NoReturn, TypeVar

from rdma_robust.errors import RdmaRobustError

FORMAT: Final = "rdma-robust/certificate"
VERSION: Final = 1

GZIP: Final = b"\x1f\x8b"
"""How a compressed document begins."""

LARGEST: Final = 1 << 30
"""Bytes of a document once decompressed."""

LARGE: Final = 1 << 17
"""Documents of more bytes are written compressed."""

Claim = Literal["robust", "not-robust", "safe", "unsafe"]
JsonObject = dict[str, object]
Item = TypeVar("Item")

CLAIMS: Final[Mapping[str, tuple[Claim, ...]]] = {"program": ("robust", "not-robust"), "net": ("safe", "unsafe")}
INSTRUMENTATIONS: Final = ("pivot", "paper")


class InvalidCertificate(RdmaRobustError):
    """The certificate does not prove what it claims; the message says why."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The options of `check` on which a robustness verdict depends."""

    instrumentation: str
    ordered_reads: bool
    await_loops: bool


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate whose head is known to be well-formed; `evidence` is still to be looked at.

    `file` is the checked file relative to the folder of the certificate, None if there was none; `setting` is None for nets.
    """

    claim: Claim
    file: str | None
    sha256: str
    setting: Setting | None
    evidence: object


def digest(text: str) -> str:
    """Return the SHA-256 of a program or net, in hexadecimal: of its text in UTF-8, without a byte order mark.

    Bytes of a net's comments that are no UTF-8 (lone surrogates in `text`) count as they are.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def write_document(certificate: Certificate, tool: Mapping[str, object]) -> bytes:
    """Return the certificate as a file's contents: JSON in a fixed layout, compressed with gzip if it is large."""
    setting = certificate.setting
    document: JsonObject = {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "input": {
            "kind": "net" if setting is None else "program",
            "file": certificate.file,
            "sha256": certificate.sha256,
        },
        "claim": certificate.claim,
        "options": None
        if setting is None
        else {
            "instrumentation": setting.instrumentation,
            "ordered_reads": setting.ordered_reads,
            "await_loops": setting.await_loops,
        },
        "evidence": certificate.evidence,
    }
    data = (_laid_out(document, 0, 3) + "\n").encode("ascii")
    return gzip.compress(data, mtime=0) if len(data) > LARGE else data


def _laid_out(value: object, depth: int, deepest: int) -> str:
    """Return `value` as JSON with a line for each member or element, those at level `deepest` on one line each."""
    if depth == deepest or not isinstance(value, dict | list) or not value:
        return json.dumps(value, allow_nan=False)
    pad = "  " * (depth + 1)
    if isinstance(value, dict):
        lines = [f"{pad}{json.dumps(name)}: {_laid_out(member, depth + 1, deepest)}" for name, member in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + "  " * depth + "}"
    if not isinstance(value[0], dict):
        return json.dumps(value, allow_nan=False)
    return "[\n" + ",\n".join(pad + json.dumps(each, allow_nan=False) for each in value) + "\n" + "  " * depth + "]"


def read_document(data: bytes) -> Certificate:
    """Return the certificate in `data`. Raises InvalidCertificate unless its head is exactly as the format says."""
    top = members(_json(data), "the certificate", ("format", "version", "tool", "input", "claim", "options", "evidence"))
    if top["format"] != FORMAT:
        reject(f"its format is {_short(top['format'])}, not {FORMAT!r}")
    if top["version"] != VERSION or not _is_int(top["version"]):
        reject(f"its version is {_short(top['version'])}, and this tool knows version {VERSION}")
    tool = members(top["tool"], "`tool`", ("name", "version", "kernel"))
    for name in tool:
        string(tool[name], f"`tool.{name}`")
    source = members(top["input"], "`input`", ("kind", "file", "sha256"))
    kind = one_of(source["kind"], "`input.kind`", tuple(CLAIMS))
    claim = one_of(top["claim"], f"`claim` about a {kind}", CLAIMS[kind])
    file = None if source["file"] is None else string(source["file"], "`input.file`")
    if kind == "net":
        if top["options"] is not None:
            reject("`options` is not null, which it is for a net")
        return Certificate(claim, file, string(source["sha256"], "`input.sha256`"), None, top["evidence"])
    options = members(top["options"], "`options`", ("instrumentation", "ordered_reads", "await_loops"))
    setting = Setting(
        one_of(options["instrumentation"], "`options.instrumentation`", INSTRUMENTATIONS),
        truth(options["ordered_reads"], "`options.ordered_reads`"),
        truth(options["await_loops"], "`options.await_loops`"),
    )
    return Certificate(claim, file, string(source["sha256"], "`input.sha256`"), setting, top["evidence"])


def reject(reason: str) -> NoReturn:
    raise InvalidCertificate(reason)


def members(value: object, where: str, names: tuple[str, ...]) -> Mapping[str, object]:
    """Return the object `value` if it has exactly the members `names`."""
    if not isinstance(value, dict):
        reject(f"{where} is {_short(value)}, not an object")
    for name in names:
        if name not in value:
            reject(f"{where} has no member {name!r}")
    for name in value:
        if name not in names:
            reject(f"{where} has an unknown member {_short(name)}")
    return value


def mapping(value: object, where: str) -> Mapping[str, object]:
    return value if isinstance(value, dict) else reject(f"{where} is {_short(value)}, not an object")


def array(value: object, where: str, item: Callable[[object, str], Item]) -> list[Item]:
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


def truth(value: object, where: str) -> bool:
    return value if isinstance(value, bool) else reject(f"{where} is {_short(value)}, not true or false")


Choice = TypeVar("Choice", bound=str)


def one_of(value: object, where: str, choices: tuple[Choice, ...]) -> Choice:
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
        reject(f"it is not JSON: {error}")


def _unique(pairs: list[tuple[str, object]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        reject(f"an object has the member {_short(next(n for n in names if names.count(n) > 1))} twice")
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
