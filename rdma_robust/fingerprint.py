"""The fingerprint of the code that gave an answer: an answer of other code is no answer."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

SUFFIXES = (".py", ".pyx", ".pxd", ".lark", ".j2", ".css", ".js")


@cache
def fingerprint() -> str:
    """Return the version and a hash of the text of every source file of this installation.

    The compiled kernels are left out: they search as the Python ones do, and tests hold them to it.
    """
    digest = hashlib.sha256()
    for package in ("rdma_robust", "rdma_robust.grammars"):
        spec = find_spec(package)
        assert spec is not None and spec.origin is not None
        root = Path(spec.origin).parent
        for path in sorted(p for p in root.rglob("*") if p.suffix in SUFFIXES):
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    version = vars(sys.modules["rdma_robust"])["__version__"]
    return f"{version}-{digest.hexdigest()[:16]}"
