/* Waits for a flag that nobody puts, or with -DCRASH for nothing. */
#include "pair.h"

int main(void)
{
	connect_pair(0);
#ifdef CRASH
	abort();
#endif
	while (__atomic_load_n(&box[5], __ATOMIC_ACQUIRE) == 0)
		;
}
