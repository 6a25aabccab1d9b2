/* The sum of all values by recursive doubling: pairs exchange their sums, at twice the distance each time. Those that are
   too many for a power of two give theirs to a neighbour first. */
#include <mpi.h>

/*@ \mpi_collective(comm, P2P):
  @   assigns \nothing;
  @   ensures \result == \sum(0, \mpi_comm_size - 1, \lambda integer t; \on(t, value));
  @   ensures \absenceof \exit \after \enter \until \enter(\all);
  @*/
int allreduce_dr(int value, MPI_Comm comm)
{
	int rank, size, pof2 = 1, rem, me = -1, mask = 1, other, one;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	while (pof2 * 2 <= size)
		pof2 *= 2;
	rem = size - pof2;
	if (rank < 2 * rem) {
		if (rank % 2 == 0) {
			MPI_Send(&value, 1, MPI_INT, rank + 1, 0, comm);
		} else {
			MPI_Recv(&one, 1, MPI_INT, rank - 1, 0, comm, MPI_STATUS_IGNORE);
			value += one;
			me = rank / 2;
		}
	} else {
		me = rank - rem;
	}
	while (me != -1 && mask < pof2) {
		other = me / mask % 2 == 0 ? me + mask : me - mask;
		other = other < rem ? other * 2 + 1 : other + rem;
		MPI_Sendrecv(&value, 1, MPI_INT, other, 0, &one, 1, MPI_INT, other, 0, comm, MPI_STATUS_IGNORE);
		value += one;
		mask *= 2;
	}
	if (rank < 2 * rem) {
		if (rank % 2 == 1)
			MPI_Send(&value, 1, MPI_INT, rank - 1, 0, comm);
		else
			MPI_Recv(&value, 1, MPI_INT, rank + 1, 0, comm, MPI_STATUS_IGNORE);
	}
	return value;
}

/* rdma-robust: expect contract allreduce_dr verified */
