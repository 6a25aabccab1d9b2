"""From reductions of `grammars/mp.lark` to nodes of the trees of programs and contracts: its rules, one method each."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lark import Token

from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.common_tree import (
    CommonBuilder,
    Part,
    ident_of,
    last_of,
    nodes_of,
    parts_of_kind,
    span_from,
)
from rdma_robust.messages.language import contract_tree as contracts
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_program import Buffer


def _word(token: Token) -> Part:
    """Return a word without its backslash."""
    return str(token).removeprefix("\\")


class ContractBuilder(CommonBuilder):
    """Stateless, so that one parser serves every file."""

    def contract(self, parts: list[Part]) -> contracts.ContractText:
        found = tuple(part for part in parts if isinstance(part, contracts.Part))
        kind = _word(parts[1])
        name = ident_of(parts[2]) if kind == "loop" else None
        return contracts.ContractText(kind, found, span_from(parts[0], parts[-1]), name)

    loop_contract = contract

    def while_contract(self, parts: list[Part]) -> ast.While:
        keyword, condition, contract, body = parts
        return ast.While(condition, body, span_from(keyword, body), contract)

    def for_contract(self, parts: list[Part]) -> ast.For:
        keyword, counter, _, low, _, high, contract, body = parts
        return ast.For(ident_of(counter), low, high, body, span_from(keyword, body), contract)

    def behavior_head(self, parts: list[Part]) -> contracts.BehaviorHead:
        return contracts.BehaviorHead(ident_of(parts[1]), span_from(parts[0], parts[-1]))

    def behaviors(self, parts: list[Part]) -> contracts.Behaviors:
        names = tuple(ident_of(each) for each in parts[2:] if isinstance(each, Token) and each.type == "NAME")
        return contracts.Behaviors(_word(parts[0]), names, span_from(parts[0], last_of(parts)))

    def assumes(self, parts: list[Part]) -> contracts.ConditionClause:
        keyword, value, *_, condition = (*parts, None) if len(parts) == 2 else parts
        return contracts.ConditionClause(_word(keyword), value, condition, span_from(keyword, condition or value))

    requires = ensures = invariant = decreases = assumes

    def assigns(self, parts: list[Part]) -> contracts.AssignsLine:
        return contracts.AssignsLine(parts_of_kind(parts, contracts.CellsOf), span_from(parts[0], last_of(parts)))

    def cells(self, parts: list[Part]) -> contracts.CellsOf:
        name, _, low, _, high, bracket = parts
        return contracts.CellsOf(ident_of(name), low, high, span_from(name, bracket or name))

    def bounds(self, parts: list[Part]) -> contracts.BoundsLine:
        keyword, name, *_, last = parts
        lengths = parts_of_kind(parts, contracts.Lengths)
        if isinstance(last, contracts.Lengths):
            return contracts.BoundsLine(ident_of(name), lengths, span=span_from(keyword, last))
        return contracts.BoundsLine(ident_of(name), lengths, parts[-3], last, span_from(keyword, last))

    def lengths(self, parts: list[Part]) -> contracts.Lengths:
        keyword, low, _, high = parts
        return contracts.Lengths(low, high, span_from(keyword, high))

    def waitsfor(self, parts: list[Part]) -> contracts.WaitsForClause:
        keyword, who, _, condition = parts
        return contracts.WaitsForClause(who, condition, span_from(keyword, condition or who))

    def quiet(self, parts: list[Part]) -> contracts.Quiet:
        keyword, _, who, _, port, _, tag, *until, _, condition = parts
        span = span_from(keyword, last_of(parts))
        return contracts.Quiet(who, port and ident_of(port), tag, until[1] if until else None, condition, span)

    def never(self, parts: list[Part]) -> contracts.AbsenceClause:
        keyword, what, _, after, _, until = parts
        return contracts.AbsenceClause(what, after, until, span_from(keyword, until))

    def event(self, parts: list[Part]) -> contracts.EventOf:
        return contracts.EventOf(_word(parts[0]), parts_of_kind(parts, contracts.SetOf), span_from(parts[0], parts[-1]))

    def set(self, parts: list[Part]) -> contracts.SetOf:
        span = span_from(parts[0], parts[-1])
        if isinstance(parts[0], Token):
            return contracts.SetOf(_word(parts[0]), span=span)
        return contracts.SetOf("", parts[0], parts[2] if len(parts) > 1 else None, span)

    def conditional(self, parts: list[Part]) -> contracts.Conditional:
        test, _, then, _, other = parts
        return contracts.Conditional(test, then, other, span_from(test, other))

    def let(self, parts: list[Part]) -> contracts.LetIn:
        keyword, name, _, value, _, inner = parts
        return contracts.LetIn(ident_of(name), value, inner, span_from(keyword, inner))

    def quantified(self, parts: list[Part]) -> contracts.OverRange:
        keyword, name, _, low, _, high, _, inner = parts
        return contracts.OverRange(_word(keyword), ident_of(name), low, high, inner, span_from(keyword, inner))

    def of_processes(self, parts: list[Part]) -> contracts.OverRange:
        keyword, type_, name, _, inner = parts
        named = type_ and ident_of(type_)
        return contracts.OverRange(_word(keyword), ident_of(name), None, None, inner, span_from(keyword, inner), named)

    def extreme(self, parts: list[Part]) -> contracts.ExtremeTerm:
        return contracts.ExtremeTerm(_word(parts[0]), nodes_of(parts), span_from(parts[0], parts[-1]))

    def row(self, parts: list[Part]) -> contracts.ComparisonChain | ast.Binary:
        if len(parts) == 3:
            return self.binary(parts)
        return contracts.ComparisonChain(tuple(parts[::2]), tuple(map(str, parts[1::2])), span_from(parts[0], parts[-1]))

    def cell(self, parts: list[Part]) -> contracts.CellTerm:
        array, _, index, bracket = parts
        return contracts.CellTerm(array, index, span_from(array, bracket))

    def named(self, parts: list[Part]) -> contracts.NameTerm:
        return contracts.NameTerm(ident_of(parts[0]), span_from(parts[0], parts[0]))

    def result(self, parts: list[Part]) -> contracts.ResultWord:
        return contracts.ResultWord(span_from(parts[0], parts[0]))

    def position(self, parts: list[Part]) -> contracts.Position:
        return contracts.Position(_word(parts[0]), span_from(parts[0], parts[0]))

    def at_process(self, parts: list[Part]) -> contracts.AtProcess:
        process, value = nodes_of(parts)
        return contracts.AtProcess(process, value, span_from(parts[0], parts[-1]))

    def at_entry(self, parts: list[Part]) -> contracts.AtEntry:
        word = "\\pre" if parts[0].type == "SL_PRE" else "\\old"
        return contracts.AtEntry(parts[2], word, span_from(parts[0], parts[-1]))  # type: ignore[arg-type]

    def agreed(self, parts: list[Part]) -> contracts.AgreeTerm:
        return contracts.AgreeTerm(parts[2], span_from(parts[0], parts[-1]))


_BUFFERS: Final[dict[str, Buffer]] = {"ZERO": "zero", "INFINITE": "infinite", "ANY": "any", "EAGER": "eager"}


class MessageBuilder(ContractBuilder):
    """Stateless, so that one parser serves every file."""

    def ports(self, parts: list[Part]) -> tree.PortLine:
        names = tuple(ident_of(part) for part in parts if part.type == "NAME")
        return tree.PortLine(names, span_from(parts[0], parts[-1]))

    def group(self, parts: list[Part]) -> tree.GroupLine:
        return tree.GroupLine(ident_of(parts[1]), nodes_of(parts[2:]), span_from(parts[0], parts[-1]))

    def function(self, parts: list[Part]) -> tree.FunctionItem:
        keyword, name, _, *parameters, _, contract, block = parts
        named = tuple(ident_of(part) for part in parameters if part is not None and part.type == "NAME")
        return tree.FunctionItem(ident_of(name), named, block, contract, span_from(keyword, block))

    def proc(self, parts: list[Part]) -> tree.Proc:
        daemon, keyword, name, opening, counter, _, low, _, high, _, block = parts
        numbers = None if opening is None else tree.Range(ident_of(counter), low, high, span_from(counter, high))
        return tree.Proc(ident_of(name), numbers, block, daemon is not None, span_from(daemon or keyword, block))

    def expect(self, parts: list[Part]) -> tree.ExpectLine:
        found = (
            parts_of_kind(parts, tree.ClaimWords),
            parts_of_kind(parts, tree.BufferWord),
            parts_of_kind(parts, tree.ContractClaimWords),
        )
        return tree.ExpectLine(*found, span_from(parts[0], last_of(parts)))

    def verified_contract(self, parts: list[Part]) -> tree.ContractClaimWords:
        keyword, name, _, _, number = parts
        every = None if number is None else ident_of(number)
        return tree.ContractClaimWords(ident_of(name), True, span=span_from(keyword, last_of(parts)), every=every)

    def violated_contract(self, parts: list[Part]) -> tree.ContractClaimWords:
        keyword, name, _, error, _, since = parts
        named = None if error is None else ident_of(error)
        first = 1 if since is None else int(since)
        return tree.ContractClaimWords(ident_of(name), False, named, first, span_from(keyword, last_of(parts)))

    def claim(self, parts: list[Part]) -> tree.ClaimWords:
        words = [part for part in parts if part is not None]
        *kind, number = (*words, "0") if words[-1].type != "NUMBER" else words
        return tree.ClaimWords(" ".join(kind), int(number), span_from(words[0], words[-1]))  # type: ignore[arg-type]

    def buffer(self, parts: list[Part]) -> tree.BufferWord:
        word, *limit = parts
        return tree.BufferWord(_BUFFERS[word.type], int(limit[0]) if limit else None, span_from(word, parts[-1]))

    def registers(self, parts: list[Part]) -> tree.RegisterLine:
        return tree.RegisterLine(parts_of_kind(parts, tree.Declarator), span_from(parts[0], parts[-1]))

    def register(self, parts: list[Part]) -> tree.Declarator:
        name, _, size, bracket, _, value = parts
        return tree.Declarator(ident_of(name), size, value, span_from(name, value or bracket or name))

    def requests(self, parts: list[Part]) -> tree.RequestLine:
        return tree.RequestLine(parts_of_kind(parts, tree.Declarator), span_from(parts[0], parts[-1]))

    def request(self, parts: list[Part]) -> tree.Declarator:
        name, _, size, bracket = parts
        return tree.Declarator(ident_of(name), size, None, span_from(name, bracket or name))

    def call_(self, parts: list[Part]) -> tree.CallLine:
        return tree.CallLine(parts[0], parts[0].span)

    def send(self, parts: list[Part]) -> tree.SendLine:
        keyword, *message = parts
        return self.made_send(None, message, keyword)

    def isend(self, parts: list[Part]) -> tree.SendLine:
        request, _, _, *message = parts
        return self.made_send(request, message, request)

    def made_send(self, request: tree.IndexedName | None, parts: list[Part], first: Part) -> tree.SendLine:
        mode, value, _, to, _, port, _, tag, _, _, of_type, _, size = parts
        span = span_from(first, last_of(parts))
        named = None if port is None else ident_of(port)
        word = "standard" if mode is None else str(mode)
        return tree.SendLine(request, value, to, named, tag, span, word, of_type, size)  # type: ignore[arg-type]

    def recv(self, parts: list[Part]) -> tree.ReceiveLine:
        keyword, *pattern = parts
        return self.made_receive(None, pattern, keyword)

    def irecv(self, parts: list[Part]) -> tree.ReceiveLine:
        request, _, _, *pattern = parts
        return self.made_receive(request, pattern, request)

    def made_receive(self, request: tree.IndexedName | None, parts: list[Part], first: Part) -> tree.ReceiveLine:
        target, _, source, _, port, _, tag, _, _, of_type, _, room = parts
        span, named = span_from(first, last_of(parts)), None if port is None else ident_of(port)
        return tree.ReceiveLine(request, target, source, named, tag, span, None, of_type, room)

    def probe(self, parts: list[Part]) -> tree.ProbeLine:
        keyword, _, source, _, port, _, tag, *flag = parts
        named = None if port is None else ident_of(port)
        return tree.ProbeLine(source, named, tag, flag[-1] if flag else None, span_from(keyword, last_of(parts)))

    iprobe = probe

    def mprobe(self, parts: list[Part]) -> tree.ProbeLine:
        keyword, taken, *looked = parts
        return replace(self.probe([keyword, *looked]), taken=taken)

    improbe = mprobe

    def mrecv(self, parts: list[Part]) -> tree.ReceiveLine:
        keyword, target, _, of = parts
        return tree.ReceiveLine(None, target, None, None, None, span_from(keyword, of), of)

    def imrecv(self, parts: list[Part]) -> tree.ReceiveLine:
        request, _, *rest = parts
        return replace(self.mrecv(rest), request=request, span=span_from(request, parts[-1]))

    def source(self, parts: list[Part]) -> Part:
        """Return `any` with where it is stored, or what is not `any`."""
        first, *stored = parts
        return tree.AnyOf(stored[0], span_from(first, last_of(parts))) if stored else first

    tag = source

    def wait(self, parts: list[Part]) -> tree.WaitLine:
        return tree.WaitLine(parts_of_kind(parts, tree.IndexedName), span_from(parts[0], parts[-1]))

    def completion(self, parts: list[Part]) -> tree.CompletionLine:
        keyword, how, *rest = parts
        at = next(at for at, part in enumerate(rest) if isinstance(part, Token) and part.type == "INTO")
        named = parts_of_kind(rest[:at], tree.IndexedName), parts_of_kind(rest[at:], tree.IndexedName)
        kind = "" if how is None else str(how)
        return tree.CompletionLine(keyword.type == "TEST", kind, *named, span_from(keyword, last_of(parts)))  # type: ignore[arg-type]

    def collective(self, parts: list[Part]) -> tree.CollectiveLine:
        keyword, *called = parts
        return self.made_collective(None, called, keyword)

    def icollective(self, parts: list[Part]) -> tree.CollectiveLine:
        request, _, _, *called = parts
        return self.made_collective(request, called, request)

    def made_collective(self, request: tree.IndexedName | None, parts: list[Part], first: Part) -> tree.CollectiveLine:
        name, _, group, *said = parts
        span, named = span_from(first, last_of(parts)), None if group is None else ident_of(group)
        return tree.CollectiveLine(request, ident_of(name), named, *said[1::2], span)  # type: ignore[call-arg]

    def abort(self, parts: list[Part]) -> tree.AbortLine:
        keyword, error = parts
        return tree.AbortLine(error, span_from(keyword, error))

    def return_(self, parts: list[Part]) -> tree.ReturnLine:
        return tree.ReturnLine(parts[1], span_from(parts[0], last_of(parts)))

    def pid(self, parts: list[Part]) -> tree.OwnNumber:
        return tree.OwnNumber(span_from(parts[0], parts[0]))

    def nprocs(self, parts: list[Part]) -> tree.ProcessCount:
        return tree.ProcessCount(span_from(parts[0], parts[0]))

    def call(self, parts: list[Part]) -> tree.FunctionCall:
        name, *arguments = parts
        return tree.FunctionCall(ident_of(name), nodes_of(arguments), span_from(name, parts[-1]))

    def ref(self, parts: list[Part]) -> tree.IndexedName:
        return tree.IndexedName(ident_of(parts[0]), nodes_of(parts[1:]), span_from(parts[0], parts[-1]))
