"""What a thread calls its queue pairs: lanes and nodes, and the lanes that requests, messages and receives are on."""

from __future__ import annotations

from rdma_robust.diagnose import quote
from rdma_robust.language.check import advice
from rdma_robust.language.check.accesses import StatementSteps
from rdma_robust.language.check.families import OneOfThem, check_lane_family, lane_names
from rdma_robust.language.check.memories import has_card
from rdma_robust.language.check.names import NodeNames, QueuePairName
from rdma_robust.language.check.other_threads import OtherThreads
from rdma_robust.language.check.program_lines import depth_of
from rdma_robust.language.check.resolve import ConstantResolver
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import first_line


class QueuePairChecker(OtherThreads):
    """A checker of queue pairs and lanes. What is wrong goes to the report."""

    def queue_pair(self, name: ast.Ident) -> QueuePairName | None:
        """Return the queue pair that a lane, or else a node, stands for; None after an error."""
        if name.index is not None:
            name = OneOfThem(self.world, self.report, "statement")(name, "node")
        if name.text in self.world.lanes.get(self.thread.name, {}):
            return self.lane(self.thread.name, name, None)
        node = self.names.node(name)
        if node is None or self.thread.node is None or not has_card(node, name, self.world, self.report):
            return None
        if self.is_own_card(node) and not self.world.loopback:
            message = f"{quote(name.text)} is {self._own_place()}"
            self.report.error("RR401", name.span, message, hint=self.names.proposals.loopback())
            return None
        return QueuePairName(node.name)

    def is_own_card(self, node: NodeNames) -> bool:
        """Whether a node uses the card that this thread's does."""
        return self.thread.node is not None and self.world.card(node.name) == self.world.card(self.thread.node.name)

    def _own_place(self) -> str:
        own = self.thread.node
        behind = own is not None and own.name in self.world.vias
        return f"the node {'whose card ' * behind}thread {self.thread.name} itself {'uses' if behind else 'runs on'}"

    def lane(self, owner: str, name: ast.Ident, to: str | None) -> QueuePairName | None:
        """Return a lane of the thread `owner`, which must go to the node `to` unless that is None; None after an error."""
        if name.index is not None:
            name = OneOfThem(self.world, self.report, "statement")(name, "node")
        known, of = self.world.lanes.get(owner, {}), "this thread" if owner == self.thread.name else f"thread {owner}"
        if name.text not in known:
            if name.text not in self.world.poisoned:
                hint = advice.lanes(self.world, owner, name)
                self.report.error("RR202", name.span, f"{of} has no lane {quote(name.text)}", hint=hint)
            return None
        if owner == self.thread.name and name.text not in self.thread.lanes:
            self.report.error(
                "RR202", name.span, f"lane {quote(name.text)} is declared further down", hint="move the `qp` line up"
            )
        node = known[name.text]
        if node in self.world.vias:
            return None
        if node is not None and to is not None and node != to:
            message = f"lane {quote(name.text)} of {of} goes to {node}, and this is about {to}"
            there = advice.listed_names(f"to {to} there is", [lane for lane, end in known.items() if end == to])
            self.report.error("RR411", name.span, message, hint=there or f"declare one: `qp NAME to {to}`")
            return None
        return None if node is None else QueuePairName(node, name.text)

    def pair_of(
        self, node: str, statement: ast.PutStatement | ast.GetStatement | ast.SendStatement | ast.Call
    ) -> QueuePairName | None:
        """Return the queue pair to the card of `node` that a request is posted on; None after an error."""
        on, card = next((flag.lane for flag in statement.flags if flag.lane is not None), None), self.world.card(node)
        return QueuePairName(card) if on is None else self.lane(self.thread.name, on, card)

    def declare_lanes(self, statement: ast.Lanes) -> StatementSteps:
        """Declare the lanes of a `qp` line: no step does that."""
        constants = ConstantResolver(self.world, self.report)
        for each in statement.lanes:
            node = self.names.node(each.node)
            if node is None or not has_card(node, each.node, self.world, self.report):
                pass
            elif self.is_own_card(node) and not self.world.loopback:
                message = f"{quote(node.name)} is {self._own_place()}"
                self.report.error("RR401", each.node.span, message, hint=self.names.proposals.loopback())
            if ("node", each.name.text) in self.world.groups or each.name.text in self.world.nodes:
                self.report.error("RR205", each.name.span, f"lane {quote(each.name.text)} has the name of a node")
            check_lane_family(each, constants, self.report)
            depth = None if each.depth is None else constants.value(each.depth)
            if each.depth is not None and depth is not None:
                depth = depth_of(depth, first_line(each.depth.span), self.report)
            for name in lane_names(each, constants):
                if depth is not None:
                    self.thread.depths[name] = depth
                before = self.thread.lanes.setdefault(name, each.name.span)
                if before is not each.name.span:
                    message = f"lane {quote(name)} was declared before, on line {before.line}"
                    self.report.error("RR204", each.name.span, message)
        return StatementSteps()

    def sender_on(self, name: ast.Ident, on: ast.Flag | None) -> tuple[str, str] | None:
        """Return the thread that messages come from, and its lane that they come on; None after an error."""
        found = self.sender(name)
        if found is None or on is None or on.lane is None:
            return None if found is None else (found, cfg.NAMELESS)
        pair = self.lane(found, on.lane, None if self.thread.node is None else self.world.card(self.thread.node.name))
        return None if pair is None else (found, pair.lane)
