"""Jobs: a question about one program, and its answer. Both cross processes and machines."""

from __future__ import annotations

import os
from dataclasses import dataclass

from rdma_robust.options import CheckOptions
from rdma_robust.reports.batch.batch_view import Page
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.share.claim_findings import Claims
from rdma_robust.text import sha256


@dataclass(frozen=True, slots=True)
class Job:
    """One program to decide. `name` is what the user calls it, `text` all that is known of it.

    With `page` the record explains the verdict; `repair` are the seconds to look for a repair of a program that is not
    robust, 0 for none. `claims` are the seconds to answer its claims, 0 for not at all.
    """

    name: str
    text: str
    options: CheckOptions
    page: bool = False
    repair: float = 0.0
    claims: float = 0.0

    @property
    def stem(self) -> str:
        """The name of a program that gives itself none."""
        return os.path.splitext(os.path.basename(self.name))[0]

    @property
    def sha256(self) -> str:
        return sha256(self.text)


@dataclass(frozen=True, slots=True)
class Record:
    """The answer to a job, and what to say about it on standard error.

    `settled` if more time or memory could not change it, `lasting` if the same limits give the same again. `proof` is the
    certificate of a violation.
    """

    result: Result
    messages: tuple[str, ...] = ()
    page: Page | None = None
    claims: Claims | None = None
    settled: bool = False
    lasting: bool = False
    proof: bytes = b""
