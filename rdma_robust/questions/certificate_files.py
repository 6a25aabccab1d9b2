"""Writing certificates: which file, and what goes into it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import PurePath
from typing import TYPE_CHECKING

from rdma_robust import TOOL
from rdma_robust.certify.document import GZIP, Certificate
from rdma_robust.errors import SizeLimitError
from rdma_robust.evidence.envelope import write_document
from rdma_robust.evidence.produce import cover_certificate, race_certificate, robustness_certificate
from rdma_robust.frame.shell.inputs import Item, Source
from rdma_robust.frame.shell.output import make_folder, replace_bytes
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome
from rdma_robust.petri.net import CoverResult, Net

if TYPE_CHECKING:
    from rdma_robust.analyses.prove.safety_outcome import SafetyOutcome
    from rdma_robust.analyses.races.find_races import RaceOutcome
    from rdma_robust.messages.language.message_program import MessageProgram
    from rdma_robust.messages.message_answers import BufferAnswer

PLAIN, PACKED = ".json", ".gz"
"""The ending of a certificate's name, and what is added if the file is compressed."""

LONGEST_NAME = 200
"""Bytes of a name that every file system takes, some left for a number and the endings."""


def with_certificates(items: Sequence[Item], directory: str) -> list[Item]:
    """Return `items` with a file in `directory`, which is made if need be, for the certificate of each.

    Raises UsageError if it cannot be made.
    """
    make_folder(directory)
    sources = [item for item in items if isinstance(item, Source)]
    names = dict(zip(map(id, sources), certificate_names(sources), strict=True))
    return [
        replace(item, certificate=os.path.join(directory, names[id(item)])) if isinstance(item, Source) else item
        for item in items
    ]


def certificate_names(sources: Sequence[Source]) -> list[str]:
    """Return a file name for the certificate of each source: its own name, after those of the folders that tell it apart.

    All are different, also where case does not count. The parts are joined by `+`, which is escaped inside them, so that
    different paths never become the same name.
    """
    paths = ["stdin" if s.path is None else os.path.realpath(s.path) for s in sources]
    parts = [[_escaped(part) for part in PurePath(path).parts] for path in paths]
    for each, source in zip(parts, sources, strict=True):
        each[-1] += f",{source.instance.replace(' ', '')}" if source.instance else ""
    names: list[str] = []
    for depth in range(1, max(map(len, parts), default=0) + 1):
        names = ["+".join(each[-depth:]) for each in parts]
        if len({name.casefold() for name in names}) == len(names):
            break
    taken: set[str] = set()
    return [_free(_cut(name), taken) + PLAIN for name in names]


def _escaped(part: str) -> str:
    return part.replace("%", "%25").replace("+", "%2B").replace(os.sep, "")


def _cut(name: str) -> str:
    """The end of a long name, which says most."""
    return os.fsdecode(os.fsencode(name)[-LONGEST_NAME:])


def _free(name: str, taken: set[str]) -> str:
    for number in count(1):
        numbered = name if number == 1 else f"{name}-{number}"
        if numbered.casefold() not in taken:
            taken.add(numbered.casefold())
            return numbered
    raise AssertionError("there is always a free number")


def certify(outcome: Outcome, source: Source, options: CheckOptions) -> str:
    """Write the certificate of `outcome` where `source` wants it; return why there is none, '' for a verdict of UNKNOWN.

    What the search for an invariant may take is once more what deciding might take. Raises InternalError if that search
    contradicts the verdict, and UsageError if the file cannot be written.
    """
    deadline = None if options.timeout is None else time.monotonic() + options.timeout
    limits = Limits(deadline, options.max_states, options.memory)
    try:
        _write(robustness_certificate(outcome, options, limits, relative(source)), source)
    except MemoryError:
        return "out of memory"
    except SizeLimitError as error:
        return str(error)
    return ""


def certify_race(outcome: RaceOutcome, text: str, source: Source, options: CheckOptions, *, of_standard: bool) -> str:
    """Write the certificate of a verdict about races in `text` where `source` wants it; return why there is none, '' for
    UNKNOWN. Raises as :func:`certify`."""
    try:
        made = race_certificate(outcome, text, relative(source), options, options.limits(), of_standard=of_standard)
        _write(made, source)
    except MemoryError:
        return "out of memory"
    except SizeLimitError as error:
        return str(error)
    return ""


def certify_proofs(outcomes: Sequence[SafetyOutcome], source: Source, limits: Limits) -> list[str]:
    """Write the certificate of each answer beside where `source` wants one, with the model in its name.

    Returns why there is none, for each answer that has none and is not UNKNOWN. Raises as :func:`certify`.
    """
    from rdma_robust.evidence.of_safety import safety_certificate  # noqa: PLC0415 - slow, and few need it

    complaints = []
    for outcome in outcomes:
        assert source.certificate is not None
        where = replace(source, certificate=f"{source.certificate.removesuffix(PLAIN)}.{outcome.model}{PLAIN}")
        try:
            _write(safety_certificate(outcome, relative(source), limits), where)
        except MemoryError:
            complaints.append(f"{outcome.model}: out of memory")
        except SizeLimitError as error:
            complaints.append(f"{outcome.model}: {error}")
    return complaints


def certify_messages(
    program: MessageProgram, answers: Sequence[BufferAnswer], source: Source, limits: Limits, loop_bound: int
) -> list[str]:
    """Write the certificates of what is known of assertions and deadlocks beside where `source` wants one.

    Each has in its name under which buffers, and about what. Returns why others could not be had. Raises as :func:`certify`.
    """
    from rdma_robust.evidence.of_messages import message_certificates  # noqa: PLC0415 - slow, and few need it

    complaints = []
    for answer in answers:
        assert source.certificate is not None
        stem = f"{source.certificate.removesuffix(PLAIN)}.{answer.buffer}"
        try:
            made = message_certificates(program, answer, limits, relative(source), loop_bound)
        except MemoryError:
            complaints.append(f"{answer.buffer}: out of memory")
            continue
        for word, certificate in made.certificates.items():
            _write(certificate, replace(source, certificate=f"{stem}.{word}{PLAIN}"))
        complaints += [f"{answer.buffer}: {why}" for why in made.complaints]
    return complaints


def write_cover_certificate(net: Net, text: str, result: CoverResult, source: Source) -> None:
    """Write the certificate of `result` for `net`, read from `text`, where `source` wants it. Raises UsageError."""
    _write(cover_certificate(net, text, result, relative(source)), source)


def relative(source: Source) -> str | None:
    """Return the path of the source relative to the folder of its certificate, with slashes; None for standard input."""
    if source.path is None or source.certificate is None:
        return None
    folder = os.path.dirname(os.path.realpath(source.certificate))
    return PurePath(os.path.relpath(os.path.realpath(source.path), folder)).as_posix()


def _write(certificate: Certificate | None, source: Source) -> None:
    """Write the file, with another ending if it is compressed; an older one with the other ending goes."""
    if certificate is None or source.certificate is None:
        return
    data = write_document(certificate, TOOL)
    plain, packed = source.certificate, source.certificate + PACKED
    now, other = (packed, plain) if data.startswith(GZIP) else (plain, packed)
    replace_bytes(now, data, through_links=False)  # names that the tool gives, as of reports in a folder
    with suppress(OSError):
        os.unlink(other)
