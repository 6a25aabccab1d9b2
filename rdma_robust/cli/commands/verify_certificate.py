"""The `verify-certificate` command: find what each certificate is about, check it, and say what it proves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from rdma_robust.certify.checker import Proved, verify
from rdma_robust.certify.document import LARGEST, NET, InvalidCertificate, read_document
from rdma_robust.certify.messages.proven_claims import CLAIMS
from rdma_robust.cli.answering import answer_sources, default_limits
from rdma_robust.cli.inputs import Item, Missing, Source, UnreadableError, expand, loaded, read_bytes, read_source, source_of
from rdma_robust.cli.options.arguments import Define, Files
from rdma_robust.cli.output import StandardOutput
from rdma_robust.cli.screen import width_of_output
from rdma_robust.language.value_ranges import one_value
from rdma_robust.reports.share.columns import sentence
from rdma_robust.reports.share.exits import Exit
from rdma_robust.text import printable

SUFFIXES = (".json", ".json.gz")

PHRASES = {
    "robust": "is robust",
    "not-robust": "is not robust",
    "safe": "is safe",
    "unsafe": "is unsafe",
    **CLAIMS,
}


def verify_certificate_command(
    context: typer.Context,
    files: Files,
    *,
    input_: Annotated[
        str | None,
        typer.Option("--input", metavar="PROGRAM_OR_NET", help="What the certificates are about, wherever it is now."),
    ] = None,
    define: Define = None,
) -> None:
    """Note in the context what is to be done."""
    one_value(define or (), "verify-certificate")
    context.obj.append(partial(run_verify, files, input_, tuple(define or ())))


def run_verify(arguments: Sequence[str], given: str | None, define: tuple[str, ...] = ()) -> Exit:
    """Check the certificates that `arguments` stand for, against the file `given` or the one that each names.

    Prints a line for each; returns OK if all are valid, else the worst.
    """
    about = None if given is None else loaded(replace(source_of(given), define=define), default_limits())
    return answer_sources(
        expand(arguments, suffixes=SUFFIXES, define=define), default_limits, partial(_answer, about), largest=LARGEST
    )


def _answer(given: Item | None, source: Source) -> Exit:
    try:
        name, proved = _checked(source, given)
    except InvalidCertificate as error:
        _say(f"{source.name}: INVALID: {error}")
        return Exit.NOT_ROBUST
    under = f" under {proved.model}" if proved.model else ""
    _say(f"{source.name}: VALID: {name} {PHRASES[proved.claim]}{under}, proved by {proved.by}")
    return Exit.OK


def _say(text: str) -> None:
    StandardOutput().say("\n".join(sentence(printable(text), width_of_output())))


def _checked(item: Source, given: Item | None) -> tuple[str, Proved]:
    """Return the name of what the certificate is about and what is proved. Raises InvalidCertificate, UnreadableError."""
    certificate = read_document(_bytes(item))
    if given is not None:
        source = given
    elif certificate.file is None:
        raise UnreadableError("it does not say which file it is about; name the file with --input")
    else:
        folder = os.path.dirname(os.path.realpath(item.path)) if item.path is not None else ""
        path = os.path.normpath(os.path.join(folder, certificate.file))
        source = Source(path, path, define=item.define)
    try:
        if isinstance(source, Missing):
            raise UnreadableError(source.reason)
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
