"""Calls of MPI in C, one by one: what they give back, and what is wrong behind them."""

from __future__ import annotations

import pytest

from tests.cli.test_messages_c import IRECV, ISEND, RECV, SEND, kinds, sides


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (sides(f"{ISEND} MPI_Request_free(&q);", RECV), {"request-lost"}),
        (sides(f"{ISEND} MPI_Request_free(&q); MPI_Barrier(w); x = 1;", f"{RECV} MPI_Barrier(w);"),
         {"buffer-race", "request-lost"}),
        (sides(SEND, f"{IRECV} MPI_Request_free(&q);"), {"request-lost"}),
        ("MPI_Ibarrier(w, &q); MPI_Request_free(&q);", {"request-lost"}),
        ("MPI_Comm g; MPI_Comm_split_type(w, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &g); MPI_Comm_rank(g, &x);"
         "assert(x == size - 1 - rank); MPI_Comm_free(&g);", set()),
        ("MPI_Comm g; MPI_Comm_split_type(w, MPI_UNDEFINED, 0, MPI_INFO_NULL, &g); assert(g == MPI_COMM_NULL);", set()),
        ("char b[200], *at; MPI_Buffer_attach(b, 200); MPI_Buffer_detach(&at, &x); assert(at == b && x == 200);", set()),
        ("MPI_Win v; MPI_Group g; MPI_Win_create(0, 0, 1, MPI_INFO_NULL, w, &v); MPI_Win_get_group(v, &g);"
         "MPI_Group_size(g, &x); assert(x == size); MPI_Group_free(&g); MPI_Win_free(&v);", set()),
        ("MPI_Datatype t; MPI_Aint at[2] = {4, 12}; int size_of; MPI_Type_create_hindexed_block(2, 1, at, MPI_INT, &t);"
         "MPI_Type_size(t, &size_of); assert(size_of == 8); MPI_Type_commit(&t); int a[4] = {1, 2, 3, 4}, b[2];"
         "MPI_Sendrecv(a, 1, t, rank, 0, b, 2, MPI_INT, rank, 0, w, &s); assert(b[0] == 2 && b[1] == 4);"
         "MPI_Type_free(&t);", set()),
    ],
)  # fmt: skip
def test_what_calls_give_back_and_what_is_wrong(body: str, wrong: set[str]) -> None:
    assert kinds(body) == wrong
