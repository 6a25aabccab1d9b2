"""What earlier runs of `report` have kept about files that are asked for again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from rdma_robust.batch.cache import Cache
from rdma_robust.batch.file_cache import AskedFile
from rdma_robust.frame.shell.inputs import Item, Missing, UnreadableError, read_source


@dataclass
class KeptAnswers:
    """The files of which one kind of question is asked, by their names; `asking` is a record of options."""

    cache: Cache | None
    kind: Literal["messages", "contracts"]
    asking: Any
    asked: dict[str, AskedFile] = field(default_factory=dict)

    def question(self, item: Item) -> AskedFile | None:
        """Return what is asked of a file that can be read, None if nothing is kept."""
        if self.cache is None or isinstance(item, Missing):
            return None
        try:
            text = read_source(item)
        except UnreadableError:
            return None
        asked = self.asked[item.name] = AskedFile.of(self.kind, item.name, text, self.asking)
        return asked
