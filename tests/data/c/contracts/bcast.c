/* Broadcast: the root sends its values to everybody else. */
#include <mpi.h>

/*@ requires count > 0 && \valid(buf + (0 .. count - 1));
  @ rdma_bounds count in 1..2;
  @ \mpi_collective(comm, P2P):
  @   requires 0 <= root < \mpi_comm_size && \mpi_agree(root) && \mpi_agree(count);
  @   assigns buf[0 .. count - 1];
  @   ensures \forall integer i; 0 <= i < count ==> buf[i] == \on(root, \old(buf[i]));
  @   ensures \absenceof \exit \after \enter \until \enter(root);
  @   ensures \mpi_comm_rank != root ==> \absenceof \sendto(0 .. \mpi_comm_size - 1, 0) \after \enter \until \enter(root);
  @*/
void bcast(int *buf, int count, int root, MPI_Comm comm)
{
	int rank, size;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	if (rank == root) {
		for (int i = 0; i < size; i++)
			if (i != root)
				MPI_Send(buf, count, MPI_INT, i, 0, comm);
	} else {
		MPI_Recv(buf, count, MPI_INT, root, 0, comm, MPI_STATUS_IGNORE);
	}
}

/* rdma-robust: expect contract bcast verified */
