"""Links out of docs/ lead to pages of the site; links to nothing are left for the strict build."""

from __future__ import annotations

import pytest

from sitegen.sources import linked_sources, page_of, rewrite, source_page


@pytest.mark.parametrize(
    ("path", "link", "becomes"),
    [
        ("docs/language.md", "[g](../grammars/rdma.lark)", "[g](source/grammars/rdma.lark.md)"),
        ("docs/reference/json.md", "[g](../../grammars/rdma.lark)", "[g](../source/grammars/rdma.lark.md)"),
        ("docs/index.md", "[r](../README.md#rooms)", "[r](source/README.md#rooms)"),
        ("docs/index.md", "[m](model.md#events)", "[m](model.md#events)"),
        ("docs/reference/cli.md", "[m](../model.md)", "[m](../model.md)"),
        ("docs/ci.md", "the [extension](../editors/vscode) is", "the extension is"),
        ("docs/ci.md", "[no](../nowhere.txt)", "[no](../nowhere.txt)"),
        ("docs/ci.md", "[far](https://example.org/x) [here](#there)", "[far](https://example.org/x) [here](#there)"),
        ("README.md", "[d](docs/model.md) [s](rdma_robust/errors.py)", "[d](../model.md) [s](rdma_robust/errors.py.md)"),
    ],
)
def test_links(path: str, link: str, becomes: str) -> None:
    assert rewrite(link, path) == becomes


def test_every_linked_file_has_a_page_and_is_named_once() -> None:
    files = list(linked_sources())
    assert len(files) == len(set(files))
    assert "grammars/rdma.lark" in files
    assert "litmus/README.md" in files
    assert not [each for each in files if page_of(each) is None]


def test_a_source_is_shown_as_it_is() -> None:
    page = source_page("grammars/spec.lark")
    assert page.startswith("# grammars/spec.lark\n\n```text\n")
    assert page.endswith("\n```\n")
