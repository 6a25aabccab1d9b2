#include <mpi.h>
#include <assert.h>
#define TASKS 4
/* A master gives tasks to whoever is free, until there are no more. */
int main(int argc, char **argv)
{
	int rank, size, task, result, sum = 0, sent = 0, stop = -1;
	MPI_Status st;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank == 0) {
		int active = 0;
		for (int to = 1; to < size && sent < TASKS; to++) {
			MPI_Send(&sent, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
			sent++; active++;
		}
		while (active > 0) {
			MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &st);
			sum += result;
			if (sent < TASKS) {
				MPI_Send(&sent, 1, MPI_INT, st.MPI_SOURCE, 1, MPI_COMM_WORLD);
				sent++;
			} else {
				MPI_Send(&stop, 1, MPI_INT, st.MPI_SOURCE, 1, MPI_COMM_WORLD);
				active--;
			}
		}
		assert(sum == 0 + 1 + 4 + 9);
	} else {
		for (;;) {
			MPI_Recv(&task, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (task < 0)
				break;
			result = task * task;
			MPI_Send(&result, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
		}
	}
	MPI_Finalize();
	return 0;
}
