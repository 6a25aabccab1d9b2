"""Post's problem solved on words alone, for comparison, and instances to try."""

from __future__ import annotations

from hypothesis import strategies as st

from rdma_robust.hardness.pcp import PcpInstance

words = st.text("ab", min_size=1, max_size=3)
instances = st.lists(st.tuples(words, words), min_size=1, max_size=3).map(
    lambda pairs: PcpInstance(tuple(t for t, _ in pairs), tuple(b for _, b in pairs))
)


def shortest(instance: PcpInstance, most: int) -> int | str:
    """Return the length of a shortest solution, `none` if there is none, `open` if that takes more than `most` indices.

    A search through overhangs: what the longer side is ahead, and which side that is.
    """
    layer = {("", "")}
    seen: set[tuple[str, str]] = set()
    for length in range(1, most + 1):
        following = set()
        for top_ahead, bottom_ahead in layer:
            for top, bottom in zip(instance.top, instance.bottom, strict=True):
                one, other = top_ahead + top, bottom_ahead + bottom
                if one.startswith(other) or other.startswith(one):
                    common = min(len(one), len(other))
                    following.add((one[common:], other[common:]))
        if ("", "") in following:
            return length
        layer = following - seen
        seen |= following
        if not layer:
            return "none"
    return "open"
