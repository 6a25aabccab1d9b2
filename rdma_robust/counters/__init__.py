"""Counter programs and vector addition systems with states; nothing here knows RDMA.

In: a counter program: a sequentially consistent program over finite variables and counters that are never tested for
zero. Out: whether a target is reachable, with a run, or an inductive set that excludes it, or the limit that was
reached. State reachability is coverability (docs/theory-search.md, "Lowering to vector addition systems"), which Karp and
Miller's tree decides; without counters the search is finite.
"""
