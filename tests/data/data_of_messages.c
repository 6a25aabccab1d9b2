#include <mpi.h>
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
struct pair { int a; double b; };
int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int v[16], w[16], counts[4], places[4];
	for (int i = 0; i < 16; i++)
		v[i] = 100 * rank + i, w[i] = -1;
	for (int i = 0; i < size; i++)
		counts[i] = i + 1, places[i] = i * (i + 1) / 2;
	MPI_Gatherv(v, rank + 1, MPI_INT, w, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
	if (rank == 0) for (int i = 0; i < size; i++) for (int k = 0; k <= i; k++) assert(w[places[i] + k] == 100 * i + k);
	MPI_Scatterv(w, counts, places, MPI_INT, v, rank + 1, MPI_INT, 0, MPI_COMM_WORLD);
	for (int k = 0; k <= rank; k++) assert(v[k] == 100 * rank + k);
	MPI_Allgatherv(v, rank + 1, MPI_INT, w, counts, places, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++) for (int k = 0; k <= i; k++) assert(w[places[i] + k] == 100 * i + k);
	for (int i = 0; i < size; i++) v[i] = 10 * rank + i;
	MPI_Alltoall(v, 1, MPI_INT, w, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++) assert(w[i] == 10 * i + rank);
	int x = rank + 1, y = 7;
	MPI_Exscan(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	assert(y == (rank ? rank * (rank + 1) / 2 : 7));
	MPI_Scan(&x, &y, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	assert(y == rank + 1);
	x = rank & 1;
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
	assert(y == (size > 1));
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
	assert(y == 0);
	MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_LXOR, MPI_COMM_WORLD);
	assert(x == (size / 2) % 2);
	double d = rank + 0.5, e = 0;
	MPI_Reduce(&d, &e, 1, MPI_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD);
	if (rank == size - 1) assert(e == size * (size - 1) / 2 + 0.5 * size);
	for (int i = 0; i < size; i++) v[i] = rank + i;
	MPI_Reduce_scatter_block(v, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	assert(y == size * (size - 1) / 2 + size * rank);
	MPI_Datatype t, column;
	MPI_Type_vector(3, 1, 4, MPI_INT, &column);
	MPI_Type_commit(&column);
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	for (int i = 0; i < 16; i++) v[i] = 100 * rank + i, w[i] = -1;
	MPI_Status s;
	MPI_Sendrecv(v, 1, column, right, 4, w, 3, MPI_INT, left, 4, MPI_COMM_WORLD, &s);
	assert(w[0] == 100 * left && w[1] == 100 * left + 4 && w[2] == 100 * left + 8 && w[3] == -1);
	int n;
	MPI_Get_count(&s, MPI_INT, &n);
	assert(n == 3 && s.MPI_SOURCE == left && s.MPI_TAG == 4);
	int lengths[2] = {1, 1};
	MPI_Aint at[2] = {0, 8};
	MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE};
	MPI_Type_create_struct(2, lengths, at, kinds, &t);
	MPI_Type_commit(&t);
	struct pair p[2] = {{rank, rank + 0.25}, {2, 3}}, q[2];
	MPI_Request r[2];
	MPI_Irecv(q, 2, t, left, 5, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(p, 2, t, right, 5, MPI_COMM_WORLD, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	assert(q[0].a == left && q[0].b == left + 0.25 && q[1].a == 2 && q[1].b == 3);
	assert(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
	MPI_Type_free(&t);
	MPI_Type_free(&column);
	assert(t == MPI_DATATYPE_NULL);
	MPI_Comm half;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	int own, many;
	MPI_Comm_rank(half, &own);
	MPI_Comm_size(half, &many);
	assert(many == (size + 1 - rank % 2) / 2);
	x = rank;
	MPI_Bcast(&x, 1, MPI_INT, 0, half);
	assert(x % 2 == rank % 2 && x >= size - 2);
	int *got = malloc(many * sizeof *got);
	MPI_Allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, half);
	for (int i = 1; i < many; i++) assert(got[i] == got[i - 1] - 2);
	free(got);
	MPI_Comm_free(&half);
	MPI_Ibcast(&y, 1, MPI_INT, 0, MPI_COMM_WORLD, &r[0]);
	MPI_Iallreduce(&rank, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	assert(x == size * (size - 1) / 2);
	if (rank == 0) {
		MPI_Send(&x, 1, MPI_INT, size - 1, 8, MPI_COMM_WORLD);
		MPI_Send(&y, 1, MPI_INT, size - 1, 9, MPI_COMM_WORLD);
	}
	if (rank == size - 1) {
		MPI_Recv(&w[1], 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &s);
		assert(w[1] == y && s.MPI_TAG == 9);
		MPI_Recv(&w[0], 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
		assert(w[0] == x && s.MPI_TAG == 8);
	}
	MPI_Finalize();
	return 0;
}
