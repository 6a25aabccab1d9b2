/* A loop whose round does not keep its invariant: the sum is of the elements behind. */
#include <mpi.h>

/*@ requires n >= 0 && \valid(a + (0 .. n));
  @ rdma_bounds a len 1 .. 3;
  @ assigns \nothing;
  @ ensures \result == \sum(0, n - 1, \lambda integer j; a[j]);
  @*/
int total(const int *a, int n)
{
	int s = 0, i = 0;

	/*@ loop invariant 0 <= i <= n && s == \sum(0, i - 1, \lambda integer j; a[j]);
	  @ loop variant n - i; */
	while (i < n) {
		i++;
		s += a[i];
	}
	return s;
}

/* rdma-robust: expect contract total violated INV, contract total_loop1 violated INV */
