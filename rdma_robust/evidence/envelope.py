"""Certificates as files: JSON in one fixed layout, so that the same verdict gives the same bytes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from typing import Final

from rdma_robust.certify.document import FORMAT, VERSION, Certificate, JsonObject

LARGE: Final = 1 << 17
"""Documents of more bytes are written compressed."""

_DEEPEST: Final = 3
_ENCODED: Final = json.JSONEncoder(allow_nan=False).encode


def write_document(certificate: Certificate, tool: Mapping[str, object]) -> bytes:
    """Return the certificate as a file's contents, compressed with gzip if it is large. `tool` says what made it."""
    document: JsonObject = {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "input": {"kind": certificate.input, "file": certificate.file, "sha256": certificate.sha256},
        "claim": dict(certificate.claim),
        "options": dict(certificate.options),
        "evidence": dict(certificate.evidence),
    }
    data = (_laid_out(document, 0) + "\n").encode("ascii")
    return gzip.compress(data, compresslevel=6, mtime=0) if len(data) > LARGE else data


def _laid_out(value: object, depth: int) -> str:
    """Return `value` as JSON with a line for each member or element down to some depth, and what is deeper on one line."""
    if depth == _DEEPEST or not isinstance(value, dict | list) or not value:
        return _ENCODED(value)
    pad = "  " * (depth + 1)
    if isinstance(value, dict):
        lines = [f"{pad}{_ENCODED(name)}: {_laid_out(member, depth + 1)}" for name, member in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + "  " * depth + "}"
    if not isinstance(value[0], dict | list):
        return _ENCODED(value)
    return "[\n" + ",\n".join(pad + _ENCODED(each) for each in value) + "\n" + "  " * depth + "]"
