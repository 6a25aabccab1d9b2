"""Programs with crowds, made of programs without."""

from dataclasses import replace

from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_decidable


def crowd(text: str, *many: str) -> Program:
    """Return the program of `text` with any number of the threads `many`.

    Of the node `CN` of such a thread `C` there are many as well; a node with another name is one that all copies share.
    """
    program = load_decidable(text, "crowd.rdma")
    nodes = {f"{name}N" for name in many}
    threads = tuple(replace(t, many=t.name in many) for t in program.threads)
    return replace(program, threads=threads, many_nodes=tuple(n for n in program.nodes if n in nodes))
