"""Words of a thread's own node that requests are about, one or several of an array, and receives for messages."""

from __future__ import annotations

from rdma_robust.diagnose import quote
from rdma_robust.expr import Const
from rdma_robust.language.check import advice
from rdma_robust.language.check.accesses import StatementSteps
from rdma_robust.language.check.lanes import QueuePairChecker
from rdma_robust.language.check.names import Register, SharedVariable
from rdma_robust.language.check.threads import VariableAccess
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast


class BufferChecker(QueuePairChecker):
    """Checks own words, and receives for messages. What is wrong goes to the report and makes no steps."""

    def own_cell(self, ref: ast.Ref, role: str) -> VariableAccess | None:
        """Return the access to a cell of this node; None after an error. `role` says why it must be one."""
        found = self.names.find(ref, role=role)
        if isinstance(found, SharedVariable):
            return self.names.access(ref, found)
        if found is not None:
            kind = "register" if isinstance(found, Register) else "constant"
            self.report.error("RR309", ref.span, f"{quote(ref.name.text)} is a {kind}: {role}")
        return None

    def several(self, first: ast.Expr, last: ast.Expr | None, role: str) -> tuple[cfg.Cell, ...] | None:
        """Return the words of an array of this node from `first` to that with the index `last`; None after an error."""
        assert isinstance(first, ast.Ref)
        assert first.index is not None
        assert last is not None
        ends = [self.names.private(end, "which words it has is said by constants") for end in (first.index, last)]
        found = self.names.find(first, role=role)
        low, high = (end.expr.value if isinstance(end.expr, Const) else None for end in ends)
        if found is None:
            return None
        if not isinstance(found, SharedVariable) or found.size is None:
            self.report.error("RR443", first.span, f"{quote(first.name.text)} is no array", expected="an array of this node")
        elif low is None or high is None:
            self.report.error("RR443", first.span, "which words it has is known only while it runs", expected="constants")
        elif not 0 <= low <= high < found.size:
            self.report.error("RR443", first.span, f"no words {low} to {high}", expected=f"words from 0 to {found.size - 1}")
        else:
            return found.cells[low : high + 1]
        return None

    def receive(self, statement: ast.RecvStatement) -> StatementSteps:
        """Return the steps of `recv`."""
        role, first, last = "`recv` posts a variable of this node", statement.buffer.first, statement.buffer.last
        found = self.sender_on(statement.sender, statement.on)
        several = None if last is None else self.several(first, last, role)
        buffer = self.own_cell(first, role) if last is None else None
        if found is None or (several is None and buffer is None):
            return StatementSteps()
        ends, (sender, lane) = (found[0], self.thread.name, found[1]), found
        self.thread.receives.append((ends, 1 if several is None else len(several), self.report.at(statement.span)))
        if several is not None:
            return self.lowering(statement).plain(cfg.Recv(several[0], sender, lane, several[1:]))
        assert buffer is not None
        return self.lowering(statement).touch([buffer], lambda cells: cfg.Recv(cells[0], sender, lane))

    def posted(self, statement: ast.PostedStatement) -> StatementSteps:
        """Declare receives that are posted before anything runs: no step does that."""
        found = self.sender_on(statement.sender, statement.on)
        role = "`posted` names variables of this node"
        for words in statement.buffers:
            ref = words.first
            if words.last is not None:
                self._post(statement, found, self.several(ref, words.last, role))
                continue
            buffer = self.own_cell(ref, role)
            if buffer is None or found is None:
                continue
            if buffer.index is None or isinstance(buffer.index, Const):
                number = 0 if buffer.index is None else buffer.index.value
                self._post(statement, found, buffer.variable.cells[number : number + 1])
            else:
                self.report.error(
                    "RR415",
                    ref.span,
                    f"which element {quote(advice.shown_reference(ref))} is, is not known before anything runs",
                    expected="an index that is a constant",
                )
        return StatementSteps()

    def _post(
        self, statement: ast.PostedStatement, found: tuple[str, str] | None, cells: tuple[cfg.Cell, ...] | None
    ) -> None:
        """Note a receive that is posted before anything runs; nothing after an error."""
        if found is not None and cells is not None:
            sender, lane = found
            ends = sender, self.thread.name, lane
            self.thread.receives.append((ends, len(cells), self.report.at(statement.span)))
            self.thread.posted.append((sender, cells, lane))
