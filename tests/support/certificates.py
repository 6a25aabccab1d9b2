"""Certificates in tests: made from verdicts, changed as JSON, and checked."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator, Mapping
from typing import Any

from rdma_robust import TOOL
from rdma_robust.certify.checker import NET_CHECKS, ProofCheck, verify
from rdma_robust.certify.document import GZIP, InvalidCertificate, read_document
from rdma_robust.evidence.envelope import write_document
from rdma_robust.evidence.produce import cover_certificate, robustness_certificate
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.petri.net import CoverResult, Net
from rdma_robust.petri.spec.reader import read_spec
from rdma_robust.robustness.decide import decide

Document = dict[str, Any]


def robustness(text: str, options: CheckOptions | None = None, states: int | None = None) -> bytes | None:
    """Decide the program in `text` and return its certificate's file, None for UNKNOWN."""
    options = options or CheckOptions()
    program = blocking(load_program(text, "program.rdma"), options.await_loops)
    made = robustness_certificate(decide(program, options), options, Limits(states=states), "program.rdma")
    return None if made is None else write_document(made, TOOL)


def cover(text: str, result: CoverResult) -> bytes:
    """Return the certificate's file of `result` for the net in `text`."""
    made = cover_certificate(read_spec(text, "net.spec"), text, result, "net.spec")
    assert made is not None
    return write_document(made, TOOL)


def check_safe(net: Net, evidence: Mapping[str, object]) -> str:
    """Check the evidence that `net` is safe, of whichever kind it is. Raises InvalidCertificate."""
    return NET_CHECKS["safe"][str(evidence["kind"])](net, evidence)


def document(data: bytes) -> Document:
    """Return a certificate's file as JSON."""
    found: Document = json.loads(gzip.decompress(data) if data.startswith(GZIP) else data)
    return found


def check(certificate: bytes | Document, text: str) -> ProofCheck:
    """Check a certificate, as a file or as JSON. Raises InvalidCertificate."""
    data = certificate if isinstance(certificate, bytes) else json.dumps(certificate).encode()
    return verify(read_document(data), text, "input")


def rejection(certificate: bytes | Document, text: str) -> str:
    """Return why a certificate is rejected, '' if it is not."""
    try:
        check(certificate, text)
    except InvalidCertificate as error:
        return str(error)
    return ""


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of everything inside a JSON value, in a fixed order."""
    if path:
        yield path
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, (*path, name))
    elif isinstance(value, list):
        for i, element in enumerate(value):
            yield from places(element, (*path, i))


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def changed(value: Document, path: tuple[str | int, ...], new: object) -> Document:
    """Return a copy of `value` with what is at `path` replaced."""
    result = copy.deepcopy(value)
    at(result, path[:-1])[path[-1]] = new
    return result


def without(value: Document, path: tuple[str | int, ...]) -> Document:
    """Return a copy of `value` without what is at `path`."""
    result = copy.deepcopy(value)
    del at(result, path[:-1])[path[-1]]
    return result


def without_state(value: Document, row: int) -> Document:
    """Return a copy of a ROBUST certificate without one state of its invariant."""
    return without(value, ("evidence", "states", row))
