"""A program, its options and the open tab in the fragment of an address, so that a link has all of it and no server sees it.

A fragment is a version, a full stop, and JSON, deflated (RFC 1951) and in base64 for addresses (RFC 4648, section 5) without
padding. The page reads it by `sitegen/playground/page/link.js`.
"""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Final

from rdma_robust.errors import UsageError

VERSION: Final = "1"
LONGEST: Final = 32_000
"""Characters of a fragment at most; `link.js` has the same number. Browsers take more, but not all that links go through."""


@dataclass(frozen=True, slots=True)
class SharedProgram:
    """What a link has in it: the text, its language (rdma or mp), the tab, and the options of the hardware by name."""

    text: str
    kind: str
    tab: str
    options: Mapping[str, str] = field(default_factory=dict)


def fragment_of(shared: SharedProgram) -> str:
    """Return the fragment of a link, without its #. Raises UsageError if it would be too long."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(json.dumps(asdict(shared), ensure_ascii=False).encode()) + packer.flush()
    made = f"{VERSION}.{urlsafe_b64encode(packed).decode().rstrip('=')}"
    if len(made) > LONGEST:
        many = f"the link would have {len(made):,} characters, and at most {LONGEST:,} are read"
        raise UsageError(f"{many}: share the file itself")
    return made
