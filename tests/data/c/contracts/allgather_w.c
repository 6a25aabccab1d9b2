/* Gather from anybody to process 0, and broadcast from there. Nobody sends to process 0 before that has left the gather,
   since the broadcast is quiet until its root has entered. */
#include <mpi.h>

/*@ \mpi_collective(comm, P2P):
  @   requires 0 <= root < \mpi_comm_size && \mpi_agree(root) && \valid(all + (0 .. \mpi_comm_size - 1));
  @   behavior root:
  @     assumes \mpi_comm_rank == root;
  @     requires \absenceof \sendfrom(\others, 0) \after \exit(\others) \until \exit;
  @     assigns all[0 .. \mpi_comm_size - 1];
  @     ensures \forall integer t; 0 <= t < \mpi_comm_size ==> all[t] == \on(t, value);
  @     ensures \absenceof \exit \after \enter \until \enter(\all);
  @   behavior others:
  @     assumes \mpi_comm_rank != root;
  @     assigns \nothing;
  @*/
void gather_w(int value, int *all, int root, MPI_Comm comm)
{
	int rank, size;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	if (rank != root) {
		MPI_Send(&value, 1, MPI_INT, root, 0, comm);
		return;
	}
	all[root] = value;
	for (int i = 1; i < size; i++) {
		int one;
		MPI_Status status;

		MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &status);
		all[status.MPI_SOURCE] = one;
	}
}

/*@ requires count > 0 && \valid(buf + (0 .. count - 1));
  @ rdma_bounds count in 1..1;
  @ \mpi_collective(comm, P2P):
  @   requires 0 <= root < \mpi_comm_size && \mpi_agree(root) && \mpi_agree(count);
  @   assigns buf[0 .. count - 1];
  @   ensures \forall integer i; 0 <= i < count ==> buf[i] == \on(root, \old(buf[i]));
  @   ensures \absenceof \exit \after \enter \until \enter(root);
  @   behavior others:
  @     assumes \mpi_comm_rank != root;
  @     ensures \absenceof \sendto(\all, 0) \after \enter \until \enter(root);
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

/*@ \mpi_collective(comm, P2P):
  @   requires \valid(all + (0 .. \mpi_comm_size - 1));
  @   assigns all[0 .. \mpi_comm_size - 1];
  @   ensures \forall integer t; 0 <= t < \mpi_comm_size ==> all[t] == \on(t, value);
  @   ensures \absenceof \exit \after \enter \until \enter(\all);
  @*/
void allgather_w(int value, int *all, MPI_Comm comm)
{
	int size;

	MPI_Comm_size(comm, &size);
	gather_w(value, all, 0, comm);
	bcast(all, size, 0, comm);
}

/* rdma-robust: expect contract gather_w verified, contract bcast verified, contract allgather_w verified */
