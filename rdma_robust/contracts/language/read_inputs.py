"""Which parameters and globals of a function nothing looks at, so that their values do not matter."""

from __future__ import annotations

from rdma_robust.contracts.language.bounded_inputs import records_in
from rdma_robust.contracts.language.contract_program import Contract, ContractProgram
from rdma_robust.contracts.language.function_instances import FunctionInstance
from rdma_robust.contracts.language.spec_terms import Global, Parameter
from rdma_robust.expr import Name
from rdma_robust.messages.language.message_program import InlinedCall, Place


def unread_inputs(program: ContractProgram, contract: Contract, written: FunctionInstance) -> frozenset[str]:
    """Return the parameters and globals of a function whose values no statement and no clause looks at.

    With an `assigns`, a global that is stored to is looked at: it must be what it was.
    """
    read: set[str] = set()
    callees: set[str] = set()
    parameters: dict[str, str] = {}
    for process in written.program.processes:
        (own,) = process.body
        assert isinstance(own, InlinedCall)
        parameters |= {term.name: name for name, term in own.call.arguments if isinstance(term, Name)}
        for part in records_in(own.body):
            match part:
                case Name(name):
                    read.add(name)
                case Place(name, indices) if indices or (contract.frames is not None and name in program.globals):
                    read.add(name)
                case InlinedCall(name):
                    callees.add(name)
    named = {parameters.get(each, each) for each in read if each in parameters or each in program.globals}
    named |= {each.name for each in records_in(contract) if isinstance(each, Parameter | Global)}
    for callee in filter(None, map(program.contract, callees)):
        named |= {each.name for each in records_in(callee) if isinstance(each, Global)}
    return frozenset({*contract.parameters, *program.globals} - named)
