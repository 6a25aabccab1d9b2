"""A program of `.rdma` as C with verbs and a harness, which is the same program when it is read again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rdma_robust.c.export.c_statements import ThreadWriter
from rdma_robust.c.export.exported_program import ExportedProgram, indented
from rdma_robust.c.export.verbs_calls import VerbsC, field_name
from rdma_robust.language.syntax import ast, printer

HELPERS: Final = {
    "post": """
static void post(struct ibv_qp *qp, int opcode, int flags, volatile void *own, volatile void *remote, int length, int number)
{
	struct ibv_sge sge = { .addr = (uintptr_t)own, .length = length };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = flags }, *bad;
	wr.imm_data = number;
	wr.wr.rdma.remote_addr = (uintptr_t)remote;
	ibv_post_send(qp, &wr, &bad);
}
""",
    "post_atomic": """
static void post_atomic(struct ibv_qp *qp, int opcode, int flags, volatile long *own, volatile long *remote,
			long compare_add, long swap)
{
	struct ibv_sge sge = { .addr = (uintptr_t)own, .length = 8 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = flags }, *bad;
	wr.wr.atomic.remote_addr = (uintptr_t)remote;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	ibv_post_send(qp, &wr, &bad);
}
""",
    "post_receive": """
static void post_receive(struct ibv_qp *qp, volatile void *buffer, int length)
{
	struct ibv_sge sge = { .addr = (uintptr_t)buffer, .length = length };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	ibv_post_recv(qp, &wr, &bad);
}
""",
    "take": """
static long take(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	return wc.wc_flags & IBV_WC_WITH_IMM ? (int)wc.imm_data : 0;
}
""",
    "try_take": """
static int try_take(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	return ibv_poll_cq(cq, 1, &wc);
}
""",
}
"""What the threads call, by its name."""
_ACCESS: Final = "IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC"
_RELAXED: Final = f"{_ACCESS} | IBV_ACCESS_RELAXED_ORDERING"


def verbs_c(text: str, file: str) -> str:
    """Return the program in `text` as C with a harness.

    Raises ProgramError where the program is not well-formed, or verbs cannot say what it does.
    """
    given = ExportedProgram.read(text, file)
    library = VerbsC(given)
    for _ in range(2):  # the second time all names of the whole C are known, which no register may have
        writers = [ThreadWriter(library, written, thread) for written, thread in given.threads()]
        for pair in library.connections.values():
            pair.posted.clear()
        bodies = {writer.written.name.text: writer.body() for writer in writers}
    given.report.raise_errors()
    return "\n".join(_VerbsText(library, bodies).lines()) + "\n"


class _VerbsText:
    """The whole of the C: what is around the bodies of the threads."""

    def __init__(self, library: VerbsC, bodies: dict[str, tuple[list[str], list[str]]]) -> None:
        self.library, self.bodies, self.given = library, bodies, library.given
        self.running = {node: [name for name, place in library.places.items() if place == node] for node in library.nodes}
        self.ends: dict[str, list[tuple[str, str, list[tuple[str, int]]]]] = {node: [] for node in library.nodes}
        for pair in library.connections.values():
            self.ends[pair.home].append((pair.near, pair.near, []))
            self.ends[pair.to].append((pair.far, pair.near, pair.posted))

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        program = self.given.program
        yield f"/* `{program.name}`, as `rdma-robust export --to verbs-c` has written it. */"
        yield "#include <infiniband/verbs.h>"
        if any(len(threads) > 1 for threads in self.running.values()):
            yield "#include <pthread.h>"
        yield from ("#include <rdma_robust.h>", "#include <stdint.h>", "")
        for node in self.library.nodes:
            yield from self._objects(node)
        for value, name in self.library.constants.items():
            yield f"static long {name} = {value};"
        for end in (end for ends in self.ends.values() for end, _, _ in ends):
            yield f"struct ibv_qp *{end};"
            yield f"struct ibv_cq *{end}_sent, *{end}_received;"
        for name, helper in HELPERS.items():
            if name in self.library.used:
                yield helper.rstrip("\n")
        for each in program.expectations:
            if each.kind in ("robust", "race"):
                yield f'RR_EXPECT("{each.text}");'
        is_first = True
        for node in self.library.nodes:
            if self.running[node] or self.ends[node]:
                yield from self._process(node, is_first=is_first)
                is_first = False

    def _objects(self, node: str) -> Iterator[str]:
        words = self.given.words_of(node)
        synchronising = self.given.synchronising()
        for found in (self.library.objects[node], self.library.relaxed[node]):
            own = {name: cells for name, cells in words.items() if self.library.object_of(node, name) == found}
            if not own:
                continue
            yield f"static struct {found} {{"
            for name, cells in own.items():
                size = f"[{len(cells)}]" if "[" in cells[0].name else ""
                yield f"\t{'volatile ' * (not synchronising.isdisjoint(cells))}long {field_name(name)}{size};"
            yield f"}} {found};"
            if any(found in reached for reached in self.library.reached.values()):
                yield f"static struct {found} *{self.library.remote[found]};"

    def _process(self, node: str, *, is_first: bool) -> Iterator[str]:
        threads = self.running[node]
        set_up = [*self._program_lines(), *self._set_up(node)] if is_first else list(self._set_up(node))
        declared, own = self.bodies[threads[0]] if len(threads) == 1 else ([], [])
        yield from (f"static void *{thread}(void *unused);" for thread in threads if thread in self.library.starters)
        for thread in threads if len(threads) > 1 else []:
            yield from ("", f"static void *{thread}(void *unused)", "{", "\t(void)unused;")
            yield from indented(line for lines in self.bodies[thread] for line in lines)
            yield from ("\treturn 0;", "}")
        name = threads[0] if len(threads) == 1 else self.given.name(f"process_{node}")
        at_once = [each for each in threads if each not in self.library.starters]
        yield from ("", f"RR_PROCESS({node}) void {name}(void)", "{")
        yield from indented(declared)
        yield from indented(set_up)
        for number, thread in enumerate(at_once[1:]):
            yield f"\tpthread_t thread_{number};"
            yield f"\tpthread_create(&thread_{number}, 0, {thread}, 0);"
        if len(threads) > 1:
            yield f"\t{at_once[0]}(0);"
        yield from indented(own)
        yield "}"

    def _program_lines(self) -> Iterator[str]:
        items = self.given.tree.items
        said = [printer.item(item).removeprefix("hardware ") for item in items if isinstance(item, ast.HardwareDeclaration)]
        if said:
            text = ", ".join(said).replace("\\", "\\\\").replace('"', '\\"')
            yield f'RR_HARDWARE("{text}");'
        if self.given.program.domain is not None:
            low, high = self.given.program.domain
            yield f"RR_VALUES({low}, {high});"

    def _set_up(self, node: str) -> Iterator[str]:
        words = self.given.words_of(node)
        for found, access in ((self.library.objects[node], _ACCESS), (self.library.relaxed[node], _RELAXED)):
            if any(self.library.object_of(node, name) == found for name in words):
                yield f"ibv_reg_mr(0, &{found}, sizeof {found}, {access});"
                yield f'RR_EXPORT("{found}", &{found});'
        for found in sorted(self.library.reached.get(node, ())):
            yield f'RR_IMPORT({self.library.remote[found]}, "{found}");'
        for name, cells in words.items():
            place = f"{self.library.object_of(node, name)}.{field_name(name)}"
            for number, cell in enumerate(cells):
                if cell.init:
                    yield f"{place}{f'[{number}]' * ('[' in cell.name)} = {cell.init};"
        for end, _, posted in self.ends[node]:
            yield f"RR_CQ({end}_sent);"
            yield f"RR_CQ({end}_received);"
            yield f"RR_QP({end}, {end}_sent, {end}_received);"
            for address, count in posted:
                yield f"post_receive({end}, {address}, {8 * count});"
        for end, name, _ in self.ends[node]:
            yield f'RR_CONNECT({end}, "{name}");'
        if not self.ends[node]:
            yield "RR_START();"
