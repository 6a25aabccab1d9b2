/* What one-sided calls and messages move together, said by assertions: any library of MPI has to agree. */
#include <mpi.h>
#include <assert.h>

int main(int argc, char **argv)
{
	int rank, size, next, before, cells[8], y = -1, z = -1, one = 1, sum = 0;
	int own[4] = {0, 0, 0, 0};
	MPI_Win win, small;
	MPI_Group all, peer;
	MPI_Request q;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	next = (rank + 1) % size;
	before = (rank + size - 1) % size;
	MPI_Win_create(cells, sizeof(cells), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_create(own, sizeof(own), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &small);

	/* fences */
	for (int k = 0; k < size; k++)
		cells[k] = 0;
	MPI_Win_fence(0, win);
	y = 10 + rank;
	MPI_Put(&y, 1, MPI_INT, next, rank, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	assert(cells[before] == 10 + before);
	MPI_Get(&z, 1, MPI_INT, next, rank, 1, MPI_INT, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	assert(z == 10 + rank);

	/* locks, and what a message orders */
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, small);
	MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, small);
	MPI_Win_unlock(0, small);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, small);
	if (rank == 0)
		assert(own[1] == size);
	y = 7;
	if (rank == size - 1) {
		MPI_Rput(&y, 1, MPI_INT, 0, 2, 1, MPI_INT, small, &q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		MPI_Win_flush(0, small);
		MPI_Send(&one, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
	}
	if (rank == 0) {
		MPI_Recv(&sum, 1, MPI_INT, size - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Win_sync(small);
		assert(own[2] == 7);
	}
	MPI_Win_unlock_all(small);

	/* processes that open their windows to each other */
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	if (rank == 0) {
		int last = size - 1;
		MPI_Group_incl(all, 1, &last, &peer);
		MPI_Win_post(peer, 0, small);
		MPI_Win_wait(small);
		assert(own[3] == 9);
		MPI_Group_free(&peer);
	}
	if (rank == size - 1) {
		int first = 0;
		MPI_Group_incl(all, 1, &first, &peer);
		MPI_Win_start(peer, 0, small);
		y = 9;
		MPI_Put(&y, 1, MPI_INT, 0, 3, 1, MPI_INT, small);
		MPI_Win_complete(small);
		MPI_Group_free(&peer);
	}
	MPI_Group_free(&all);
	MPI_Win_free(&small);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
