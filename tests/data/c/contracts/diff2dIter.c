/* One step of diffusion in two dimensions, on a grid of processes in rows of px: exchange of rows and columns at the
   borders, then each cell from itself and its four neighbours before the step. Cells are 3 rows of 4, inner ones 2. */
#include <mpi.h>

int u[12];
int px;

/*@ rdma_bounds px in 1..\mpi_comm_size;
  @ \mpi_collective(MPI_COMM_WORLD, P2P):
  @   requires px > 0 && \mpi_comm_size % px == 0 && \mpi_agree(px);
  @   behavior up:
  @     assumes \mpi_comm_rank >= px;
  @     assigns u[1 .. 2];
  @     ensures \forall integer j; 1 <= j <= 2 ==> u[j] == \on(\mpi_comm_rank - px, \old(u[4 + j]));
  @     waitsfor \mpi_comm_rank - px;
  @   behavior down:
  @     assumes \mpi_comm_rank + px < \mpi_comm_size;
  @     assigns u[9 .. 10];
  @     ensures \forall integer j; 1 <= j <= 2 ==> u[8 + j] == \on(\mpi_comm_rank + px, \old(u[4 + j]));
  @     waitsfor \mpi_comm_rank + px;
  @   behavior left:
  @     assumes \mpi_comm_rank % px != 0;
  @     assigns u[4];
  @     ensures u[4] == \on(\mpi_comm_rank - 1, \old(u[6]));
  @     waitsfor \mpi_comm_rank - 1;
  @   behavior right:
  @     assumes \mpi_comm_rank % px != px - 1;
  @     assigns u[7];
  @     ensures u[7] == \on(\mpi_comm_rank + 1, \old(u[5]));
  @     waitsfor \mpi_comm_rank + 1;
  @*/
void diff2dExchange(void)
{
	int rank, size;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank >= px)
		MPI_Send(&u[5], 2, MPI_INT, rank - px, 0, MPI_COMM_WORLD);
	if (rank + px < size) {
		MPI_Recv(&u[9], 2, MPI_INT, rank + px, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&u[5], 2, MPI_INT, rank + px, 0, MPI_COMM_WORLD);
	}
	if (rank >= px)
		MPI_Recv(&u[1], 2, MPI_INT, rank - px, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank % px != 0)
		MPI_Send(&u[5], 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD);
	if (rank % px != px - 1) {
		MPI_Recv(&u[7], 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&u[6], 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
	}
	if (rank % px != 0)
		MPI_Recv(&u[4], 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/*@ rdma_bounds px in 1..\mpi_comm_size;
  @ rdma_bounds k in 2..2;
  @ \mpi_collective(MPI_COMM_WORLD, P2P):
  @   requires px > 0 && \mpi_comm_size % px == 0 && \mpi_agree(px);
  @   assigns u[0 .. 11];
  @   ensures \forall integer j; 1 <= j <= 2 ==> u[4 + j] == \old(u[4 + j] + k * (
  @             (\mpi_comm_rank < px ? u[j] : \on(\mpi_comm_rank - px, u[4 + j]))
  @           + (\mpi_comm_rank + px >= \mpi_comm_size ? u[8 + j] : \on(\mpi_comm_rank + px, u[4 + j]))
  @           + (j == 2 || \mpi_comm_rank % px == 0 ? u[3 + j] : \on(\mpi_comm_rank - 1, u[6]))
  @           + (j == 1 || \mpi_comm_rank % px == px - 1 ? u[5 + j] : \on(\mpi_comm_rank + 1, u[5])) - 4 * u[4 + j]));
  @   waitsfor \mpi_comm_rank - px if \mpi_comm_rank >= px;
  @   waitsfor \mpi_comm_rank + px if \mpi_comm_rank + px < \mpi_comm_size;
  @   waitsfor \mpi_comm_rank - 1 if \mpi_comm_rank % px != 0;
  @   waitsfor \mpi_comm_rank + 1 if \mpi_comm_rank % px != px - 1;
  @*/
void diff2dIter(int k)
{
	int w[3];

	diff2dExchange();
	for (int j = 1; j <= 2; j++)
		w[j] = u[4 + j] + k * (u[j] + u[8 + j] + u[3 + j] + u[5 + j] - 4 * u[4 + j]);
	for (int j = 1; j <= 2; j++)
		u[4 + j] = w[j];
}

/* rdma-robust: expect contract diff2dExchange verified, contract diff2dIter verified */
