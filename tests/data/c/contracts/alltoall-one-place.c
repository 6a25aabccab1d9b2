/* All to all: everybody sends first, element i to process i, and stores all that comes at one place. */
#include <mpi.h>

/*@ \mpi_collective(comm, P2P):
  @   requires \valid(s + (0 .. \mpi_comm_size - 1)) && \valid(r + (0 .. \mpi_comm_size - 1));
  @   assigns r[0 .. \mpi_comm_size - 1];
  @   ensures \let me = \mpi_comm_rank; \forall integer t; 0 <= t < \mpi_comm_size ==> r[t] == \on(t, s[me]);
  @   ensures \absenceof \exit \after \enter \until \enter(\all);
  @*/
void alltoall(const int *s, int *r, MPI_Comm comm)
{
	int size;

	MPI_Comm_size(comm, &size);
	for (int i = 0; i < size; i++)
		MPI_Send(&s[i], 1, MPI_INT, i, 0, comm);
	for (int i = 0; i < size; i++)
		MPI_Recv(&r[0], 1, MPI_INT, i, 0, comm, MPI_STATUS_IGNORE);
}

/* rdma-robust: expect contract alltoall violated SGV from 2 */
