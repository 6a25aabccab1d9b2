/* The sum of all values, everywhere: MPI_Reduce at process 0, then MPI_Bcast, by their contracts. */
#include <mpi.h>

/*@ \mpi_collective(comm, COL):
  @   assigns \nothing;
  @   ensures \result == \sum(0, \mpi_comm_size - 1, \lambda integer t; \on(t, value));
  @   waitsfor \all;
  @*/
int allreduce(int value, MPI_Comm comm)
{
	int sum;

	MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
	MPI_Bcast(&sum, 1, MPI_INT, 0, comm);
	return sum;
}

/* rdma-robust: expect contract allreduce verified */
