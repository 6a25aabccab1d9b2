"""From reductions of the grammar to nodes of the tree of contracts: the rules of `grammars/mp.lark`, one method each."""

from __future__ import annotations

from lark import Token

from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.common_tree import CommonBuilder, Part, between, ident_of, last_of, nodes_of, only
from rdma_robust.messages.language import contract_tree as tree


def _word(token: Token) -> Part:
    """Return a word without its backslash."""
    return str(token).removeprefix("\\")


class ContractBuilder(CommonBuilder):
    """Stateless, so that one parser serves every file."""

    def contract(self, parts: list[Part]) -> tree.ContractText:
        found = tuple(part for part in parts if isinstance(part, tree.Part))
        return tree.ContractText(_word(parts[1]), found, between(parts[0], parts[-1]))

    def loop_contract(self, parts: list[Part]) -> tree.ContractText:
        found = tuple(part for part in parts if isinstance(part, tree.Part))
        return tree.ContractText("loop", found, between(parts[0], parts[-1]), ident_of(parts[2]))

    def while_contract(self, parts: list[Part]) -> ast.While:
        keyword, condition, contract, body = parts
        return ast.While(condition, body, between(keyword, body), contract)

    def for_contract(self, parts: list[Part]) -> ast.For:
        keyword, counter, _, low, _, high, contract, body = parts
        return ast.For(ident_of(counter), low, high, body, between(keyword, body), contract)

    def behavior_head(self, parts: list[Part]) -> tree.BehaviorHead:
        return tree.BehaviorHead(ident_of(parts[1]), between(parts[0], parts[-1]))

    def behaviors(self, parts: list[Part]) -> tree.Behaviors:
        names = tuple(ident_of(each) for each in parts[2:] if isinstance(each, Token) and each.type == "NAME")
        return tree.Behaviors(_word(parts[0]), names, between(parts[0], last_of(parts)))

    def assumes(self, parts: list[Part]) -> tree.Condition:
        keyword, value, *_, condition = (*parts, None) if len(parts) == 2 else parts
        return tree.Condition(_word(keyword), value, condition, between(keyword, condition or value))

    def requires(self, parts: list[Part]) -> tree.Condition:
        return self.assumes(parts)

    def ensures(self, parts: list[Part]) -> tree.Condition:
        return self.assumes(parts)

    def invariant(self, parts: list[Part]) -> tree.Condition:
        return self.assumes(parts)

    def decreases(self, parts: list[Part]) -> tree.Condition:
        return self.assumes(parts)

    def assigns(self, parts: list[Part]) -> tree.AssignsLine:
        return tree.AssignsLine(only(parts, tree.CellsOf), between(parts[0], last_of(parts)))

    def cells(self, parts: list[Part]) -> tree.CellsOf:
        name, _, low, _, high, bracket = parts
        return tree.CellsOf(ident_of(name), low, high, between(name, bracket or name))

    def bounds(self, parts: list[Part]) -> tree.BoundsLine:
        keyword, name, *_, last = parts
        lengths = only(parts, tree.Lengths)
        if isinstance(last, tree.Lengths):
            return tree.BoundsLine(ident_of(name), lengths, span=between(keyword, last))
        return tree.BoundsLine(ident_of(name), lengths, parts[-3], last, between(keyword, last))

    def lengths(self, parts: list[Part]) -> tree.Lengths:
        keyword, low, _, high = parts
        return tree.Lengths(low, high, between(keyword, high))

    def waitsfor(self, parts: list[Part]) -> tree.WaitsFor:
        keyword, who, _, condition = parts
        return tree.WaitsFor(who, condition, between(keyword, condition or who))

    def quiet(self, parts: list[Part]) -> tree.Quiet:
        keyword, _, who, _, port, _, tag, *until, _, condition = parts
        span = between(keyword, last_of(parts))
        return tree.Quiet(who, port and ident_of(port), tag, until[1] if until else None, condition, span)

    def never(self, parts: list[Part]) -> tree.Never:
        keyword, what, _, after, _, until = parts
        return tree.Never(what, after, until, between(keyword, until))

    def event(self, parts: list[Part]) -> tree.EventOf:
        return tree.EventOf(_word(parts[0]), only(parts, tree.SetOf), between(parts[0], parts[-1]))

    def set(self, parts: list[Part]) -> tree.SetOf:
        span = between(parts[0], parts[-1])
        if isinstance(parts[0], Token):
            return tree.SetOf(_word(parts[0]), span=span)
        return tree.SetOf("", parts[0], parts[2] if len(parts) > 1 else None, span)

    def conditional(self, parts: list[Part]) -> tree.Conditional:
        test, _, then, _, other = parts
        return tree.Conditional(test, then, other, between(test, other))

    def let(self, parts: list[Part]) -> tree.LetIn:
        keyword, name, _, value, _, inner = parts
        return tree.LetIn(ident_of(name), value, inner, between(keyword, inner))

    def quantified(self, parts: list[Part]) -> tree.OverRange:
        keyword, name, _, low, _, high, _, inner = parts
        return tree.OverRange(_word(keyword), ident_of(name), low, high, inner, between(keyword, inner))

    def of_processes(self, parts: list[Part]) -> tree.OverRange:
        keyword, type_, name, _, inner = parts
        named = type_ and ident_of(type_)
        return tree.OverRange(_word(keyword), ident_of(name), None, None, inner, between(keyword, inner), named)

    def extreme(self, parts: list[Part]) -> tree.Extreme:
        return tree.Extreme(_word(parts[0]), nodes_of(parts), between(parts[0], parts[-1]))

    def row(self, parts: list[Part]) -> tree.Row | ast.Binary:
        if len(parts) == 3:
            return self.binary(parts)
        return tree.Row(tuple(parts[::2]), tuple(map(str, parts[1::2])), between(parts[0], parts[-1]))

    def cell(self, parts: list[Part]) -> tree.Cell:
        array, _, index, bracket = parts
        return tree.Cell(array, index, between(array, bracket))

    def named(self, parts: list[Part]) -> tree.Named:
        return tree.Named(ident_of(parts[0]), between(parts[0], parts[0]))

    def result(self, parts: list[Part]) -> tree.ResultWord:
        return tree.ResultWord(between(parts[0], parts[0]))

    def position(self, parts: list[Part]) -> tree.Position:
        return tree.Position(_word(parts[0]), between(parts[0], parts[0]))

    def at_process(self, parts: list[Part]) -> tree.AtProcess:
        process, value = nodes_of(parts)
        return tree.AtProcess(process, value, between(parts[0], parts[-1]))

    def at_entry(self, parts: list[Part]) -> tree.AtEntry:
        word = "\\pre" if parts[0].type == "SL_PRE" else "\\old"
        return tree.AtEntry(parts[2], word, between(parts[0], parts[-1]))  # type: ignore[arg-type]

    def agreed(self, parts: list[Part]) -> tree.Agreed:
        return tree.Agreed(parts[2], between(parts[0], parts[-1]))
