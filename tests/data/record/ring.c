/* Two processes, whose number is RDMA_ROBUST_PROCESS: they exchange keys over TCP, and each puts a word into the other one's
   memory; with -DREUSED the word is written again before it has gone. */
#include "pair.h"
#include <netinet/in.h>

int main(int count, char **given)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(given[count - 1])) };
	me = atoi(getenv("RDMA_ROBUST_PROCESS"));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int own = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	if (me == 0) {
		setsockopt(own, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
		if (bind(own, (struct sockaddr *)&address, sizeof address) || listen(own, 1))
			return 5;
		line[me] = accept(own, NULL, NULL);
	} else {
		for (int tries = 0; connect(own, (struct sockaddr *)&address, sizeof address); tries++) {
			if (tries == 200)
				return 6;
			close(own), usleep(50000), own = socket(AF_INET, SOCK_STREAM, 0);
		}
		line[me] = own;
	}
	connect_lines(0);
	box[0] = 7;
	post(IBV_WR_RDMA_WRITE, 0, 1, IBV_SEND_SIGNALED);
#ifdef REUSED
	box[0] = 8;
#endif
	complete();
	meet();
	printf("process %d\n", me);
}
