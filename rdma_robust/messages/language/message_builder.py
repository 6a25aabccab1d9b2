"""From reductions of the grammar to nodes of the tree of `.mp`: the rules of `grammars/mp.lark`, one method each."""

from __future__ import annotations

from typing import Final

from rdma_robust.language.syntax.common_tree import Part, between, ident_of, last_of, nodes_of, only
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.contract_builder import ContractBuilder
from rdma_robust.messages.language.message_program import Buffer

_BUFFERS: Final[dict[str, Buffer]] = {"ZERO": "zero", "INFINITE": "infinite", "ANY": "any"}


class MessageBuilder(ContractBuilder):
    """Stateless, so that one parser serves every file."""

    def ports(self, parts: list[Part]) -> tree.PortLine:
        names = tuple(ident_of(part) for part in parts if part.type == "NAME")
        return tree.PortLine(names, between(parts[0], parts[-1]))

    def function(self, parts: list[Part]) -> tree.Function:
        keyword, name, _, *parameters, _, contract, block = parts
        named = tuple(ident_of(part) for part in parameters if part is not None and part.type == "NAME")
        return tree.Function(ident_of(name), named, block, contract, between(keyword, block))

    def proc(self, parts: list[Part]) -> tree.Proc:
        daemon, keyword, name, opening, counter, _, low, _, high, _, block = parts
        numbers = None if opening is None else tree.Range(ident_of(counter), low, high, between(counter, high))
        return tree.Proc(ident_of(name), numbers, block, daemon is not None, between(daemon or keyword, block))

    def expect(self, parts: list[Part]) -> tree.ExpectLine:
        found = only(parts, tree.ClaimWords), only(parts, tree.BufferWord), only(parts, tree.ContractClaimWords)
        return tree.ExpectLine(*found, between(parts[0], last_of(parts)))

    def verified_contract(self, parts: list[Part]) -> tree.ContractClaimWords:
        keyword, name, _, _, number = parts
        every = None if number is None else ident_of(number)
        return tree.ContractClaimWords(ident_of(name), True, span=between(keyword, last_of(parts)), every=every)

    def violated_contract(self, parts: list[Part]) -> tree.ContractClaimWords:
        keyword, name, _, error, _, since = parts
        named = None if error is None else ident_of(error)
        first = 1 if since is None else int(since)
        return tree.ContractClaimWords(ident_of(name), False, named, first, between(keyword, last_of(parts)))

    def claim(self, parts: list[Part]) -> tree.ClaimWords:
        words = [part for part in parts if part is not None]
        span = between(words[0], words[-1])
        match [str(word) for word in words]:
            case ["matchings", number]:
                return tree.ClaimWords("matchings", int(number), span)
            case ["no", "race"]:
                return tree.ClaimWords("no race", span=span)
            case ["no", _]:
                return tree.ClaimWords("no deadlock", span=span)
            case ["holds"]:
                return tree.ClaimWords("holds", span=span)
            case ["violated"]:
                return tree.ClaimWords("violated", span=span)
            case ["race"]:
                return tree.ClaimWords("race", span=span)
            case _:
                return tree.ClaimWords("deadlock", span=span)

    def buffer(self, parts: list[Part]) -> tree.BufferWord:
        return tree.BufferWord(_BUFFERS[parts[0].type], between(parts[0], parts[0]))

    def registers(self, parts: list[Part]) -> tree.RegisterLine:
        return tree.RegisterLine(only(parts, tree.Declared), between(parts[0], parts[-1]))

    def register(self, parts: list[Part]) -> tree.Declared:
        name, _, size, bracket, _, value = parts
        return tree.Declared(ident_of(name), size, value, between(name, value or bracket or name))

    def requests(self, parts: list[Part]) -> tree.RequestLine:
        return tree.RequestLine(only(parts, tree.Declared), between(parts[0], parts[-1]))

    def request(self, parts: list[Part]) -> tree.Declared:
        name, _, size, bracket = parts
        return tree.Declared(ident_of(name), size, None, between(name, bracket or name))

    def call_(self, parts: list[Part]) -> tree.CallLine:
        return tree.CallLine(parts[0], parts[0].span)

    def send(self, parts: list[Part]) -> tree.SendLine:
        keyword, *message = parts
        return self.made_send(None, message, keyword)

    def isend(self, parts: list[Part]) -> tree.SendLine:
        request, _, _, *message = parts
        return self.made_send(request, message, request)

    def made_send(self, request: tree.Indexed | None, parts: list[Part], first: Part) -> tree.SendLine:
        value, _, to, _, port, _, tag = parts
        span = between(first, last_of(parts))
        return tree.SendLine(request, value, to, None if port is None else ident_of(port), tag, span)

    def recv(self, parts: list[Part]) -> tree.ReceiveLine:
        keyword, *pattern = parts
        return self.made_receive(None, pattern, keyword)

    def irecv(self, parts: list[Part]) -> tree.ReceiveLine:
        request, _, _, *pattern = parts
        return self.made_receive(request, pattern, request)

    def made_receive(self, request: tree.Indexed | None, parts: list[Part], first: Part) -> tree.ReceiveLine:
        target, _, source, _, port, _, tag = parts
        span = between(first, last_of(parts))
        return tree.ReceiveLine(request, target, source, None if port is None else ident_of(port), tag, span)

    def source(self, parts: list[Part]) -> Part:
        """Return `any` with where it is stored, or what is not `any`."""
        first, *stored = parts
        return tree.AnyOf(stored[0], between(first, last_of(parts))) if stored else first

    def tag(self, parts: list[Part]) -> Part:
        """Return `any` with where it is stored, or what is not `any`."""
        return self.source(parts)

    def wait(self, parts: list[Part]) -> tree.WaitLine:
        return tree.WaitLine(only(parts, tree.Indexed), between(parts[0], parts[-1]))

    def return_(self, parts: list[Part]) -> tree.ReturnLine:
        return tree.ReturnLine(parts[1], between(parts[0], last_of(parts)))

    def pid(self, parts: list[Part]) -> tree.OwnNumber:
        return tree.OwnNumber(between(parts[0], parts[0]))

    def nprocs(self, parts: list[Part]) -> tree.ProcessCount:
        return tree.ProcessCount(between(parts[0], parts[0]))

    def call(self, parts: list[Part]) -> tree.FunctionCall:
        name, *arguments = parts
        return tree.FunctionCall(ident_of(name), nodes_of(arguments), between(name, parts[-1]))

    def ref(self, parts: list[Part]) -> tree.Indexed:
        return tree.Indexed(ident_of(parts[0]), nodes_of(parts[1:]), between(parts[0], parts[-1]))
