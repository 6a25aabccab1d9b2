/* Does what it is told: `./player OPERATIONS OPERATIONS`, of process 0 and process 1, each operation a letter and numbers. */
#include "pair.h"

static long word(char **at) { return strtol(*at, at, 10); }

int main(int count, char **given)
{
	if (count != 3)
		return 2;
	connect_pair(0);
	srand((unsigned)getpid());
	for (char *at = given[1 + me]; *at;) {
		char what = *at++;
		long a = 0, b = 0, c = 0, d = 0;
		volatile uint64_t *here;
		if (what == ' ')
			continue;
		if (strchr("WRPGXALMNIV", what))
			a = word(&at);
		if (strchr("WPGXALMNIV", what))
			at++, b = word(&at);
		if (strchr("PGXALMNI", what))
			at++, c = word(&at);
		if (strchr("XNI", what))
			at++, d = word(&at);
		here = &box[a];
		if (rand() % 4 == 0)
			usleep((useconds_t)(rand() % 300));
		switch (what) {
		case 'W': *here = (uint64_t)b; break;
		case 'R': (void)*here; break;
		case 'F': __atomic_thread_fence(__ATOMIC_SEQ_CST); break;
		case 'L': {
			uint64_t expected = (uint64_t)b;
			__atomic_compare_exchange_n(&box[a], &expected, (uint64_t)c, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
			break;
		}
		case 'P': post(IBV_WR_RDMA_WRITE, (int)a, (int)b, (unsigned)c); break;
		case 'G': post(IBV_WR_RDMA_READ, (int)a, (int)b, (unsigned)c); break;
		case 'X': post_atomic(IBV_WR_ATOMIC_CMP_AND_SWP, (int)a, (int)b, (uint64_t)c, (uint64_t)d); break;
		case 'A': post_atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, (int)a, (int)b, (uint64_t)c, 0); break;
		case 'M': post_words(IBV_WR_SEND, (int)a, (int)b, 0, (unsigned)c, 0); break;
		case 'N': post_words(IBV_WR_SEND_WITH_IMM, (int)a, (int)b, 0, (unsigned)c, (uint32_t)d); break;
		case 'I': post_words(IBV_WR_RDMA_WRITE_WITH_IMM, (int)a, 1, (int)b, (unsigned)c, (uint32_t)d); break;
		case 'V': post_receive((int)a, (int)b); break;
		case 'D': received(); break;
		case 'C': complete(); break;
		default: return 3;
		}
	}
	leave();
	return 0;
}
