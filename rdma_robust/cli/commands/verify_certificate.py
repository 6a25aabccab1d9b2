"""The `verify-certificate` command: find what each certificate is about, check it, and say what it proves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import typer

from rdma_robust.certify.checker import ProofCheck
from rdma_robust.certify.document import LARGEST, PROGRAM, Certificate, InvalidCertificate, read_document
from rdma_robust.certify.judge_question import NotCovered
from rdma_robust.certify.proven_judge import (
    REFUSED,
    ROBUST,
    UNCLEAR,
    VIOLATING,
    ask_judge,
    ask_search,
    find_judge,
    judge_question,
    search_question,
)
from rdma_robust.cli.answering import answer_sources, default_limits
from rdma_robust.cli.options.arguments import Define, Files
from rdma_robust.cli.options.option_sets import CFileOptions, with_option_sets
from rdma_robust.frame import registry
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.columns import sentence
from rdma_robust.frame.shell.inputs import (
    Item,
    Missing,
    Source,
    UnreadableError,
    expand,
    loaded,
    read_bytes,
    read_source,
    source_of,
)
from rdma_robust.frame.shell.output import StandardOutput, width_of_output
from rdma_robust.text import printable
from rdma_robust.value_ranges import is_option, one_value

SUFFIXES = (".json", ".json.gz")
UNKNOWN_KIND = registry.CertificateKind("", "rdma_robust.certify.checker:verify", {})
"""What no tool has a kind for: the checker says so."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """The words that the extracted checker adds to the line of a valid certificate, and the exit code."""

    said: str = ""
    code: Exit = Exit.OK


@with_option_sets
def verify_certificate_command(
    context: typer.Context,
    files: Files,
    *,
    input_: Annotated[
        str | None,
        typer.Option("--input", metavar="PROGRAM_OR_NET", help="What the certificates are about, wherever it is now."),
    ] = None,
    proven: Annotated[bool, typer.Option("--proven", help="Ask the checker extracted from Coq as well.")] = False,
    define: Define = None,
    c: CFileOptions,
) -> None:
    """Note in the context what is to be done."""
    values = (*(define or ()), *c.definitions())
    one_value(values, "verify-certificate")
    context.obj.append(partial(run_verify, files, input_, values, proven))


def run_verify(arguments: Sequence[str], given: str | None, define: tuple[str, ...] = (), proven: bool = False) -> Exit:
    """Check the certificates that `arguments` stand for, against the file `given` or the one that each names; if `proven`,
    the extracted checker has to agree.

    Prints a line for each; returns OK if all are valid, else the worst. Raises UsageError if there is no judge to ask.
    """
    judge = find_judge() if proven else None
    about = None if given is None else loaded(replace(source_of(given), define=define), default_limits())
    plain = [each for each in define if not is_option(each)]
    found = expand(arguments, suffixes=SUFFIXES, define=plain)
    items = [replace(each, define=define) if isinstance(each, Source) else each for each in found]
    return answer_sources(items, default_limits, partial(_answer, about, judge), largest=LARGEST)


def _answer(given: Item | None, judge: str | None, source: Source) -> Exit:
    try:
        name, said, beyond = _checked(source, given, judge)
    except InvalidCertificate as error:
        _say(f"{source.name}: INVALID: {error}")
        return Exit.NOT_ROBUST
    _say(f"{source.name}: VALID: {name} {said}{beyond.said}")
    return beyond.code


def _say(text: str) -> None:
    StandardOutput().say("\n".join(sentence(printable(text), width_of_output())))


def _checked(item: Source, given: Item | None, judge: str | None) -> tuple[str, str, _Judged]:
    """Return the name of what the certificate is about, what is proved in words, and what the judge says, if there is one.

    Raises InvalidCertificate, UnreadableError; with a judge also UsageError if it does not answer.
    """
    certificate = read_document(_bytes(item))
    kind = registry.certificate_kind(certificate.input) or UNKNOWN_KIND
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
        text = read_source(source, any_bytes=kind.any_bytes)
    except UnreadableError as error:
        what = f"cannot read {source.name}, which it is about"
        raise UnreadableError(f"{what}: {error}; name the file with --input") from error
    name = os.path.basename(source.name)
    proved: ProofCheck = registry.at(kind.verify)(certificate, text, name)
    under = f" under {proved.model}" if proved.model else ""
    said = f"{kind.phrases[proved.claim]}{under}, proved by {proved.by}"
    return name, said, _Judged() if judge is None else _judged(judge, certificate, text, name)


def _judged(judge: str, certificate: Certificate, text: str, name: str) -> _Judged:
    try:
        if certificate.about == (PROGRAM, "robust"):
            return _searched(ask_search(judge, search_question(certificate, text, name)))
        question = judge_question(certificate, text, name)
    except NotCovered as error:
        return _Judged(f"; not covered by the extracted checker: {error}", Exit.UNKNOWN)
    answers = ask_judge(judge, question.text())
    if answers != [VIOLATING]:
        raise InvalidCertificate(f"the extracted checker does not call it violating: {'; '.join(answers)}")
    return _Judged("; the extracted checker agrees")


def _searched(answer: str) -> _Judged:
    if answer.startswith((UNCLEAR, REFUSED)):
        return _Judged(f"; not decided by the proven search: {answer.removeprefix(UNCLEAR)}", Exit.UNKNOWN)
    if not answer.startswith(ROBUST):
        raise InvalidCertificate(f"the proven search does not call it robust: {answer}")
    return _Judged(f"; the proven search agrees, with {answer.removeprefix(ROBUST)}")


def _bytes(item: Source) -> bytes:
    data = read_bytes(item, LARGEST)
    if len(data) > LARGEST:
        raise UnreadableError(f"larger than {LARGEST >> 20} MiB")
    return data
