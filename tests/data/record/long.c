/* A message of three words and a number; with -DREUSED its first word is written again before it has gone, with -DEARLY the
   receiver reads the last word before it has come. */
#include "pair.h"

int main(void)
{
	connect_pair(0);
	if (me == 0) {
		box[0] = 1, box[1] = 2, box[2] = 3;
		meet();
		post_words(IBV_WR_SEND_WITH_IMM, 0, 3, 0, IBV_SEND_SIGNALED, 42);
#ifdef REUSED
		box[0] = 9;
		complete();
#else
		complete();
		box[0] = 9;
#endif
		post_words(IBV_WR_SEND, 1, 2, 0, IBV_SEND_SIGNALED, 0);
		complete();
	} else {
		post_receive(8, 4);
		post_receive(12, 2);
		meet();
#ifdef EARLY
		while (*(volatile uint64_t *)&box[10] != 3)
			;
		printf("%d\n", (int)box[8]);
#endif
		uint32_t number = received();
		printf("%u %d %d %d\n", number, (int)box[8], (int)box[9], (int)box[10]);
		received();
		printf("%d %d\n", (int)box[12], (int)box[13]);
	}
	leave();
}
