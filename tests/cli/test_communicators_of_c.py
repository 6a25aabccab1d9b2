"""Communicators of C with MPI messages: two groups, topologies of graphs, groups, packing, attributes; and reductions."""

from __future__ import annotations

import pytest

from tests.cli.test_messages_c import kinds

PAIR = "MPI_Comm c, i; MPI_Comm_split(w, rank % 2, rank, &c); MPI_Intercomm_create(c, 0, w, 1 - rank % 2, 5, &i); "
FREE = " MPI_Comm_free(&i); MPI_Comm_free(&c);"
ROOT = "int root = rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL; "
GRAPH = (
    "int ends[4] = { 2, 3, 4, 6 }, edges[6] = { 1, 3, 0, 3, 0, 2 }; MPI_Comm g; MPI_Graph_create(w, 4, ends, edges, 0, &g); "
)
RING = (
    "int from[1] = { (rank + size - 1) % size }, to[1] = { (rank + 1) % size }; MPI_Comm g;"
    " MPI_Dist_graph_create_adjacent(w, 1, from,"
    " MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g); "
)
GROUPS = "int r[1][3] = { { 3, 1, -2 } }; MPI_Group a, b; MPI_Comm_group(w, &b); MPI_Group_range_incl(b, 1, r, &a); "


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{PAIR} x = rank; MPI_Sendrecv(&x, 1, MPI_INT, rank / 2, 0, &y, 1, MPI_INT, MPI_ANY_SOURCE, 0, i, &s);"
         f" MPI_Comm_remote_size(i, &x); assert(x == 2); MPI_Comm_rank(i, &x); assert(x == rank / 2); {FREE}", set()),
        (f"{PAIR} MPI_Recv(&y, 1, MPI_INT, 2, 0, i, &s); {FREE}", {"invalid-rank"}),
        (f"{PAIR} {ROOT} x = rank + 7; MPI_Bcast(&x, 1, MPI_INT, root, i); if (rank % 2) assert(x == 7); {FREE}", set()),
        (f"{PAIR} {ROOT} y = rank; MPI_Bcast(&y, 1, MPI_INT, root, i); if (rank % 2) assert(y == 1); {FREE}", {"violation"}),
        (f"{PAIR} {ROOT} int v[2]; MPI_Gather(&rank, 1, MPI_INT, v, 1, MPI_INT, root, i);"
         f" if (!rank) assert(v[1] == 3); {FREE}", set()),
        (f"{PAIR} MPI_Allreduce(&rank, &y, 1, MPI_INT, MPI_SUM, i); assert(y == (rank % 2 ? 2 : 4)); {FREE}", set()),
        (f"{PAIR} int v[2] = {{ 1, rank }}; MPI_Reduce_scatter_block(v, &y, 1, MPI_INT, MPI_SUM, i);"
         f" assert(y == (rank < 2 ? 2 : rank == 2 ? 4 : 2)); {FREE}", set()),
        (f"{PAIR} MPI_Bcast(&x, 1, MPI_INT, rank % 2 ? 0 : MPI_PROC_NULL, i); {FREE}", {"deadlock"}),
        (f"{PAIR} MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, i); {FREE}", {"invalid-communicator"}),
        (f"{PAIR} MPI_Comm m; MPI_Intercomm_merge(i, rank % 2 == 0, &m); MPI_Comm_rank(m, &x);"
         f" assert(x == (rank % 2 ? rank / 2 : 2 + rank / 2)); MPI_Comm_free(&m); {FREE}", set()),
        ("MPI_Comm c; MPI_Comm_dup(MPI_COMM_SELF, &c); if (rank) MPI_Barrier(c); else MPI_Bcast(&x, 1, MPI_INT, 0, c);"
         " MPI_Comm_free(&c);", set()),
        (f"{GRAPH} MPI_Graph_neighbors_count(g, rank, &x); assert(x == (rank % 3 ? 1 : 2)); int v[2]; x = 10 + rank;"
         " MPI_Neighbor_allgather(&x, 1, MPI_INT, v, 1, MPI_INT, g); if (!rank) assert(v[0] == 11 && v[1] == 13);"
         " MPI_Comm_free(&g);", set()),
        (f"{RING} x = 10 + rank; MPI_Ineighbor_alltoall(&x, 1, MPI_INT, &y, 1, MPI_INT, g, &q); MPI_Wait(&q, &s);"
         " assert(y == 10 + from[0]); MPI_Comm_free(&g);", set()),
        (f"{RING} if (rank) MPI_Neighbor_alltoall(&x, 1, MPI_INT, &y, 1, MPI_INT, g); MPI_Comm_free(&g);", {"deadlock"}),
        (f"{RING} if (rank) MPI_Cart_rank(g, &x, &y); MPI_Comm_free(&g);", {"invalid-communicator"}),
        (f"{GROUPS} MPI_Comm c; MPI_Comm_create_group(w, a, 3, &c); if (rank % 2) {{ MPI_Comm_rank(c, &x);"
         " assert(x == rank % 3); MPI_Barrier(c); MPI_Comm_free(&c); } MPI_Group_free(&a); MPI_Group_free(&b);", set()),
        (f"{GROUPS} int at[2] = {{ 0, 1 }}, t[2]; MPI_Group_translate_ranks(a, 2, at, b, t); assert(t[0] == 3 && t[1] == 1);"
         " MPI_Group_free(&a); MPI_Group_free(&b);", set()),
        ("char m[16]; double d = 2.5, e; x = 7; MPI_Pack(&x, 1, MPI_INT, m, 16, &y, w);"
         " MPI_Pack(&d, 1, MPI_DOUBLE, m, 16, &y, w); assert(y == 12);"
         " y = 0; MPI_Unpack(m, 16, &y, &x, 1, MPI_INT, w); MPI_Unpack(m, 16, &y, &e, 1, MPI_DOUBLE, w);"
         " assert(x == 7 && e == 2.5);", set()),
        ("MPI_Gather(&x, 1, MPI_INT, &y, 1, MPI_INT, 0, w); if (rank) MPI_Barrier(w);", {"buffer-overflow", "deadlock"}),
        ("char m[4]; MPI_Pack(&x, 1, MPI_INT, m, 4, &y, w); MPI_Pack(&x, 1, MPI_INT, m, 4, &y, w);", {"buffer-overflow"}),
        ("int *most, is; MPI_Comm_get_attr(w, MPI_TAG_UB, &most, &is); assert(is && *most >= 32767);", set()),
    ],
)  # fmt: skip
def test_communicators(body: str, expected: set[str]) -> None:
    assert kinds(body, 2 if expected else 4) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("double c[2] = { 1, rank }, d[2]; MPI_Allreduce(c, d, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, w);"
         " assert(d[0] == 2 && d[1] == 1);", set()),
        ("MPI_Op o; x = 5 - rank; MPI_Op_create(minus, 0, &o); MPI_Allreduce(&x, &y, 1, MPI_INT, o, w); MPI_Op_free(&o);"
         " assert(y == 1);", set()),
        ("MPI_Op o; x = 5 - rank; MPI_Op_create(minus, 0, &o); MPI_Reduce_local(&x, &y, 1, MPI_INT, o); MPI_Op_free(&o);"
         " assert(y == 5);", {"violation"}),
        ("struct { int v, i; } a = { 7, rank }, b; MPI_Allreduce(&a, &b, 1, MPI_2INT, MPI_MAXLOC, w);"
         " assert(b.v == 7 && b.i == 0);", set()),
        ("struct { double v; int i; } a = { rank, rank }, b; MPI_Allreduce(&a, &b, 1, MPI_DOUBLE_INT, MPI_MAXLOC, w);"
         " assert(b.v == 1 && b.i == 0);", {"violation"}),
        ("int a[3] = { 1, 2, rank }, n[2] = { 2, 1 }, b[2] = { 0 }; MPI_Reduce_scatter(a, b, n, MPI_INT, MPI_SUM, w);"
         " assert(b[0] == 2 - rank && b[1] == 4 * !rank);", set()),
        ("int a[2] = { 10 + rank, 20 + rank }, b[2], n[2] = { 1, 1 }, d[2] = { 0, 4 };"
         " MPI_Datatype t[2] = { MPI_INT, MPI_INT }; MPI_Alltoallw(a, n, d, t, b, n, d, t, w);"
         " assert(b[1] == 11 + 10 * rank);", set()),
        ("int a[2] = { 0 }, b[2], n[2] = { 1, 1 }, d[2] = { 0, 4 }; MPI_Datatype t[2] = { MPI_INT, MPI_INT };"
         " t[0] = rank ? MPI_FLOAT : MPI_INT; MPI_Alltoallw(a, n, d, t, b, n, d, t, w);", {"type-mismatch"}),
    ],
)  # fmt: skip
def test_reductions(body: str, expected: set[str]) -> None:
    assert kinds(body) == expected
