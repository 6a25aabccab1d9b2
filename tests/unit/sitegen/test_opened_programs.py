"""Blocks of the documentation that are programs have a link that opens just this program, and no others have."""

from __future__ import annotations

import json
import re
import zlib
from base64 import urlsafe_b64decode
from typing import Any

from rdma_robust.teaching.exercises import exercise_named
from sitegen.opened_programs import with_links


def linked(page: str) -> list[Any]:
    codes = re.findall(r'href="\.\./playground/index\.html#1\.([\w-]+)"', with_links(page, "../"))
    return [json.loads(zlib.decompress(urlsafe_b64decode(f"{code}==="), -zlib.MAX_WBITS)) for code in codes]


def test_each_program_of_a_page_has_its_link() -> None:
    exercise = exercise_named("mailbox-mended")
    page = (
        "```rdma\nnode A { x }\n```\n\n```sh\nls\n```\n\n"
        '- a list\n\n    ```mp title="p"\n    proc P {\n      send 1 to P\n    }\n    ```\n\n'
        f"```rdma\n{exercise.program}```\n"
    )
    seen = [(each["kind"], each["text"], each["exercise"]) for each in linked(page)]
    assert seen == [
        ("rdma", "node A { x }\n", ""),
        ("mp", "proc P {\n  send 1 to P\n}\n", ""),
        ("rdma", exercise.program, exercise.name),
    ]
