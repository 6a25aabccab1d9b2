#include <mpi.h>
#include <stdio.h>

static int twice(int x)
{
	return 2 * x;
}

static void give(int *result, int to)
{
	MPI_Send(result, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
}

/* rdma-robust: expect holds, no deadlock, race */
int main(int argc, char **argv)
{
	int rank, size, value = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank == 0) {
		for (int at = 1; at < size; at++)
			MPI_Send(&at, 1, MPI_INT, at, 1, MPI_COMM_WORLD);
		for (int at = 1; at < size; at++)
			MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		value = twice(value);
		give(&value, 0);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
