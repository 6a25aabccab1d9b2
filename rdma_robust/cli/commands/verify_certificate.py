"""The `verify-certificate` command: find what each certificate is about, check it, and say what it proves."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rdma_robust.certify.checker import Proved, verify
from rdma_robust.certify.document import LARGEST, NET, InvalidCertificate, read_document
from rdma_robust.cli.answering import answering, default_limits
from rdma_robust.cli.inputs import Item, Missing, Source, UnreadableError, expand, read_bytes, read_source, source_of
from rdma_robust.cli.output import StandardOutput
from rdma_robust.cli.stderr import warn
from rdma_robust.reports.share.exits import Exit, worst
from rdma_robust.text import printable

SUFFIXES = (".json", ".json.gz")

PHRASES = {
    "robust": "is robust",
    "not-robust": "is not robust",
    "safe": "is safe",
    "unsafe": "is unsafe",
}


def run_verify(arguments: Sequence[str], given: str | None) -> Exit:
    """Check the certificates that `arguments` stand for, against the file `given` or the one that each names.

    Prints a line for each; returns OK if all are valid, else the worst.
    """
    return worst([_answer(item, given) for item in expand(arguments, suffixes=SUFFIXES)])


def _answer(item: Item, given: str | None) -> Exit:
    if isinstance(item, Missing):
        warn(f"{printable(item.name)}: error: {item.reason}")
        return Exit.INVALID
    source, out = item, StandardOutput()

    def checked() -> Exit:
        try:
            name, proved = _checked(source, given)
        except InvalidCertificate as error:
            out.line(printable(f"{source.name}: INVALID: {error}"))
            return Exit.NOT_ROBUST
        out.line(printable(f"{source.name}: VALID: {name} {PHRASES[proved.claim]}, proved by {proved.by}"))
        return Exit.OK

    return answering(source.name, default_limits(), checked)


def _checked(item: Source, given: str | None) -> tuple[str, Proved]:
    """Return the name of what the certificate is about and what is proved. Raises InvalidCertificate, UnreadableError."""
    certificate = read_document(_bytes(item))
    if given is not None:
        source = source_of(given)
    elif certificate.file is None:
        raise UnreadableError("it does not say which file it is about; name the file with --input")
    else:
        folder = os.path.dirname(os.path.realpath(item.path)) if item.path is not None else ""
        path = os.path.normpath(os.path.join(folder, certificate.file))
        source = Source(path, path)
    try:
        text = read_source(source, any_bytes=certificate.input == NET)
    except UnreadableError as error:
        what = f"cannot read {source.name}, which it is about"
        raise UnreadableError(f"{what}: {error}; name the file with --input") from error
    name = os.path.basename(source.name)
    return name, verify(certificate, text, name)


def _bytes(item: Source) -> bytes:
    data = read_bytes(item, LARGEST)
    if len(data) > LARGEST:
        raise UnreadableError(f"larger than {LARGEST >> 20} MiB")
    return data
