/* Remote atomics on a lock word and a counter. With -DEARLY a result is read before its completion; with -DREAD the other
   processor reads what an atomic has changed, which its completion does not tell of. */
#include "pair.h"

int main(void)
{
	connect_pair(0);
	if (me == 0) {
		do {
			post_atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 0, 6, 0, 1);
#ifdef EARLY
			uint64_t early = box[0];
			(void)early;
			printf("%d\n", (int)early);
#endif
			complete();
		} while (box[0] != 0);
		post_atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 7, 3, 0);
		complete();
		printf("%d\n", (int)box[1]);
	}
	meet();
#ifdef READ
	if (me == 1)
		printf("%d %d\n", (int)box[6], (int)box[7]);
#endif
	leave();
}
