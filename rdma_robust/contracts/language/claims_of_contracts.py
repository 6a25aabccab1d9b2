"""What a file expects of its contracts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from rdma_robust.contracts.language.contract_program import CLASSES, ContractBuffer, ContractClaim, ErrorClass
from rdma_robust.diagnose import Reporter, listing, meant_at, quote
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_world import GlobalScope

_CLASSES: Final[dict[str, ErrorClass]] = {name: name for name in CLASSES}


def read_claims(
    program: ast.ProgramTree, world: GlobalScope, contracts: Collection[str], report: Reporter
) -> tuple[ContractClaim, ...]:
    """Return the claims of the `expect` lines about functions, of which `contracts` have one. Errors go to `report`."""
    found: dict[tuple[str, ContractBuffer], ContractClaim] = {}
    for line in (item for item in tree.declarations(program) if isinstance(item, tree.ExpectLine)):
        buffers = list(_buffers(line, report)) if line.contracts else []
        for claim in line.contracts:
            _check_name(claim.name, world, contracts, report)
            error = None if claim.error is None else _class(claim.error, report)
            if claim.since < 1:
                report.error("RR957", claim.span, "there is always a process", expected="`from 1`, or more")
            every = claim.every is not None
            if claim.every is not None and claim.every.text != "n":
                report.error("RR957", claim.every.span, "no number stands here", expected="`any n`")
            for buffer in buffers:
                made = ContractClaim(
                    claim.name.text, claim.verified, error, claim.since, report.at(claim.span), buffer, any_n=every
                )
                before = found.setdefault((claim.name.text, buffer), made)
                if before is not made:
                    at = f"{before.span.line}:{before.span.column}"
                    said = f"what is expected of {quote(claim.name.text)} was said before, at {at}"
                    report.error("RR921", claim.span, said, hint="take one of them out")
    return tuple(found.values())


def _buffers(line: tree.ExpectLine, report: Reporter) -> Iterator[ContractBuffer]:
    """Yield the buffers that a line is about: `infinite` if it names none."""
    if not line.buffers:
        yield "infinite"
    for word in dict.fromkeys(line.buffers):
        if word.buffer == "any":
            said = "contracts are checked under `zero` and `infinite`, not under `any`"
            report.error("RR957", word.span, said, expected="`zero`, `infinite`, or both")
        else:
            yield word.buffer


def _check_name(name: ast.Ident, world: GlobalScope, contracts: Collection[str], report: Reporter) -> None:
    text = name.text
    if text in contracts or text in world.poisoned:
        return
    hint = meant_at(name.span, text, contracts)
    if text in world.functions:
        report.error("RR957", name.span, f"the function {quote(text)} has no contract", hint=hint)
    else:
        report.error("RR902", name.span, f"there is no function {quote(text)} with a contract", hint=hint)


def _class(name: ast.Ident, report: Reporter) -> ErrorClass | None:
    found = _CLASSES.get(name.text)
    if found is None:
        hint = meant_at(name.span, name.text, CLASSES)
        report.error("RR957", name.span, f"there is no class {quote(name.text)}", expected=listing(CLASSES), hint=hint)
    return found
