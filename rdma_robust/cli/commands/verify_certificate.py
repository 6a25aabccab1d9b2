"""The `verify-certificate` command: find what each certificate is about, check it, and say what it proves."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rdma_robust.certify.checker import Proved, verify
from rdma_robust.certify.document import LARGEST, NET, InvalidCertificate, read_document
from rdma_robust.cli.inputs import Missing, Source, UnreadableError, expand, loaded, read_source
from rdma_robust.cli.output import StandardOutput
from rdma_robust.cli.processes.decide_program import exit_of_error, message_of
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
    out = StandardOutput()
    codes = []
    for item in expand(arguments, suffixes=SUFFIXES):
        if isinstance(item, Missing):
            warn(f"{printable(item.name)}: error: {item.reason}")
            codes.append(Exit.INVALID)
            continue
        try:
            name, proved = _checked(item, given)
            out.line(printable(f"{item.name}: VALID: {name} {PHRASES[proved.claim]}, proved by {proved.by}"))
            codes.append(Exit.OK)
        except InvalidCertificate as error:
            out.line(printable(f"{item.name}: INVALID: {error}"))
            codes.append(Exit.NOT_ROBUST)
        except BrokenPipeError:
            raise
        except Exception as error:
            warn(message_of(error, item.name))
            codes.append(exit_of_error(error))
    return worst(codes)


def _checked(item: Source, given: str | None) -> tuple[str, Proved]:
    """Return the name of what the certificate is about and what is proved. Raises InvalidCertificate, UnreadableError."""
    certificate = read_document(_bytes(item))
    if given is not None:
        path = given
    elif certificate.file is None:
        raise UnreadableError("it does not say which file it is about; name the file with --input")
    else:
        folder = os.path.dirname(os.path.realpath(item.path)) if item.path is not None else ""
        path = os.path.normpath(os.path.join(folder, certificate.file))
    try:
        text = read_source(Source(path, path), any_bytes=certificate.input == NET)
    except UnreadableError as error:
        raise UnreadableError(f"cannot read {path}, which it is about: {error}; name the file with --input") from error
    name = os.path.basename(path)
    return name, verify(certificate, text, name)


def _bytes(item: Source) -> bytes:
    if item.path is None:
        read = loaded(item)
        if isinstance(read, Missing):
            raise UnreadableError(read.reason)
        return read.data or b""
    try:
        with open(item.path, "rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from error
    if len(data) > LARGEST:
        raise UnreadableError(f"larger than {LARGEST >> 20} MiB")
    return data
