/* One step of diffusion in one dimension: exchange, then each cell from itself and its two neighbours before the step. */
#include <mpi.h>

int u[4];
int left, right;

/*@ rdma_bounds left in \mpi_comm_rank == 0 ? -2 : \mpi_comm_rank - 1 .. \mpi_comm_rank == 0 ? \mpi_comm_size - 1 : \mpi_comm_rank - 1;
  @ rdma_bounds right in \mpi_comm_rank == \mpi_comm_size - 1 ? -2 : \mpi_comm_rank + 1 .. \mpi_comm_rank == \mpi_comm_size - 1 ? 0 : \mpi_comm_rank + 1;
  @ \mpi_collective(MPI_COMM_WORLD, P2P):
  @   requires left == MPI_PROC_NULL || (0 <= left < \mpi_comm_size && \let me = \mpi_comm_rank; \on(left, right) == me);
  @   requires right == MPI_PROC_NULL || (0 <= right < \mpi_comm_size && \let me = \mpi_comm_rank; \on(right, left) == me);
  @   behavior left:
  @     assumes left != MPI_PROC_NULL;
  @     assigns u[0];
  @     ensures u[0] == \on(left, \old(u[2]));
  @     waitsfor left;
  @   behavior right:
  @     assumes right != MPI_PROC_NULL;
  @     assigns u[3];
  @     ensures u[3] == \on(right, \old(u[1]));
  @     waitsfor right;
  @*/
void diff1dExchange(void)
{
	MPI_Sendrecv(&u[1], 1, MPI_INT, left, 0, &u[3], 1, MPI_INT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&u[2], 1, MPI_INT, right, 0, &u[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/*@ rdma_bounds left in \mpi_comm_rank == 0 ? -2 : \mpi_comm_rank - 1 .. \mpi_comm_rank == 0 ? \mpi_comm_size - 1 : \mpi_comm_rank - 1;
  @ rdma_bounds right in \mpi_comm_rank == \mpi_comm_size - 1 ? -2 : \mpi_comm_rank + 1 .. \mpi_comm_rank == \mpi_comm_size - 1 ? 0 : \mpi_comm_rank + 1;
  @ rdma_bounds k in 2..2;
  @ \mpi_collective(MPI_COMM_WORLD, P2P):
  @   requires left == MPI_PROC_NULL || (0 <= left < \mpi_comm_size && \let me = \mpi_comm_rank; \on(left, right) == me);
  @   requires right == MPI_PROC_NULL || (0 <= right < \mpi_comm_size && \let me = \mpi_comm_rank; \on(right, left) == me);
  @   assigns u[0 .. 3];
  @   ensures u[1] == \old(u[1] + k * (u[2] - 2 * u[1] + (left == MPI_PROC_NULL ? u[0] : \on(left, u[2]))));
  @   ensures u[2] == \old(u[2] + k * ((right == MPI_PROC_NULL ? u[3] : \on(right, u[1])) - 2 * u[2] + u[1]));
  @   waitsfor left if left != MPI_PROC_NULL;
  @   waitsfor right if right != MPI_PROC_NULL;
  @*/
void diff1dIter(int k)
{
	int w[4];

	diff1dExchange();
	for (int i = 1; i < 3; i++)
		w[i] = u[i] + k * (u[i + 1] - 2 * u[i] + u[i - 1]);
	for (int i = 1; i < 3; i++)
		u[i] = w[i];
}

/* rdma-robust: expect contract diff1dExchange verified, contract diff1dIter verified */
