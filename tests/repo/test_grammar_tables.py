"""The LALR tables beside the grammars are those of the grammars, and do not count for anything else."""

from __future__ import annotations

from typing import Any

import lark
import pytest

from rdma_robust import grammar_tables
from rdma_robust.grammar_tables import NAMES, Name, are_stored, build, parser


def meaning(found: lark.Lark, start: str) -> list[Any]:
    """What a parser does from `start` on, with its states numbered as they are met."""
    conf = found.parse_interactive(start=start).parser_state.parse_conf
    numbers = {conf.start_state: 0}
    rows = []
    for state in (order := [conf.start_state]):
        row = []
        for symbol, (action, target) in sorted(conf.states[state].items(), key=lambda item: str(item[0])):
            if action.name == "Reduce":
                row.append((str(symbol), target.origin.name, str(target.expansion), target.alias, str(target.options)))
                continue
            if target not in numbers:
                numbers[target] = len(order)
                order.append(target)
            row.append((str(symbol), numbers[target]))
        rows.append(row)
    return [numbers[conf.end_state], rows]


def terminals(found: lark.Lark) -> list[tuple[str, str, int, frozenset[str]]]:
    return [(t.name, t.pattern.value, t.priority, frozenset(t.pattern.flags)) for t in found.terminals]


@pytest.mark.parametrize("name", NAMES)
def test_stored_tables_are_the_grammar(name: Name) -> None:
    assert are_stored(name), "make promote writes them anew"
    stored, built = parser(name), build(name)
    assert stored.options.start == built.options.start
    for start in built.options.start:
        assert meaning(stored, start) == meaning(built, start)
    assert terminals(stored) == terminals(built)


def test_tables_of_another_lark_or_grammar_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setattr(lark, "__version__", "0.0")
        assert not are_stored("rdma")
        assert meaning(parser("rdma"), "program") == meaning(build("rdma"), "program")
    source = grammar_tables._source("rdma")
    with monkeypatch.context() as other:
        other.setattr(grammar_tables, "_source", lambda _name: source.replace('"loop"', '"for"'))
        assert not are_stored("rdma")
        assert "for" in {t.pattern.value for t in parser("rdma").terminals}
    assert are_stored("rdma")
