"""The calls of a test on verbs: queue pairs of each two processes, which find each other over TCP."""

from __future__ import annotations

from typing import Final

VERBS: Final = r"""#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>
#include <infiniband/verbs.h>
/* RANK is the number of this process, HOST and PORT where number 0 listens; DEVICE, PORT_NUMBER, GID_INDEX if need be */
enum { SPARE = 256, DEPTH = 256 };
struct end {
	uint64_t address;
	uint32_t key, pairs[PROCESSES];
	uint16_t lid;
	union ibv_gid gid;
};
static struct end ends[PROCESSES];
static struct ibv_context *context;
static struct ibv_mr *region;
static struct ibv_qp *pairs[PROCESSES];
static struct ibv_cq *queues[PROCESSES];
static int links[PROCESSES];

static void fail(const char *what)
{
	fprintf(stderr, "%s failed: %s\n", what, strerror(errno));
	exit(2);
}
static const char *told(const char *name, const char *otherwise)
{
	const char *value = getenv(name);
	return value ? value : otherwise;
}
static void carry(int link, void *data, size_t size, int writes)
{
	for (size_t at = 0; at < size;) {
		ssize_t part = writes ? write(link, (char *)data + at, size - at) : read(link, (char *)data + at, size - at);
		if (part <= 0)
			fail("the connection to process 0");
		at += (size_t)part;
	}
}
/* Give everybody what each has. */
static void share(const void *own, size_t size, void *all)
{
	char *at = all;
	memcpy(at + (size_t)me * size, own, size);
	for (int process = 1; me == 0 && process < PROCESSES; process++)
		carry(links[process], at + (size_t)process * size, size, 0);
	for (int process = 1; me == 0 && process < PROCESSES; process++)
		carry(links[process], all, PROCESSES * size, 1);
	if (me) {
		carry(links[0], at + (size_t)me * size, size, 1);
		carry(links[0], all, PROCESSES * size, 0);
	}
}
static void meet(void)
{
	char all[PROCESSES];
	share("", 1, all);
}
static void begin(int *argc, char ***argv)
{
	struct addrinfo hints, *found;
	int one = 1, listener;
	(void)argc;
	(void)argv;
	me = atoi(told("RANK", "-1"));
	processes = PROCESSES;
	if (me < 0 || me >= PROCESSES) {
		fprintf(stderr, "RANK has to be the number of this process, from 0 to %d\n", PROCESSES - 1);
		exit(2);
	}
	memset(&hints, 0, sizeof hints);
	hints.ai_family = AF_INET;
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = me ? 0 : AI_PASSIVE;
	if (getaddrinfo(me ? told("HOST", "127.0.0.1") : NULL, told("PORT", "18515"), &hints, &found))
		fail("looking up HOST and PORT");
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (me == 0) {
		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
		if (bind(listener, found->ai_addr, found->ai_addrlen) || listen(listener, PROCESSES))
			fail("listening at PORT");
		for (int k = 1; k < PROCESSES; k++) {
			int link = accept(listener, NULL, NULL), number = 0;
			carry(link, &number, sizeof number, 0);
			if (number < 1 || number >= PROCESSES || links[number])
				fail("RANK of another process");
			links[number] = link;
		}
	} else {
		for (int tries = 0; connect(listener, found->ai_addr, found->ai_addrlen); tries++) {
			if (tries == 100)
				fail("connecting to HOST");
			close(listener);
			usleep(100000);
			listener = socket(AF_INET, SOCK_STREAM, 0);
		}
		links[0] = listener;
		carry(listener, &me, sizeof me, 1);
	}
	freeaddrinfo(found);
}
static void open_device(void)
{
	int number = 0;
	struct ibv_device **devices = ibv_get_device_list(&number);
	const char *name = getenv("DEVICE");
	for (int k = 0; devices && k < number && !context; k++)
		if (!name || strcmp(ibv_get_device_name(devices[k]), name) == 0)
			context = ibv_open_device(devices[k]);
	if (!context)
		fail(name ? "opening DEVICE" : "opening a NIC for verbs");
}
static void connect_pair(int pe, struct ibv_port_attr *port, int gid_index)
{
	struct ibv_qp_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = (uint8_t)atoi(told("PORT_NUMBER", "1"));
	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	if (ibv_modify_qp(pairs[pe], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		fail("ibv_modify_qp to INIT");
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = port->active_mtu;
	attr.dest_qp_num = ends[pe].pairs[me];
	attr.max_dest_rd_atomic = 4;
	attr.min_rnr_timer = 12;
	attr.ah_attr.dlid = ends[pe].lid;
	attr.ah_attr.port_num = attr.port_num;
	attr.ah_attr.is_global = gid_index >= 0;
	attr.ah_attr.grh.dgid = ends[pe].gid;
	attr.ah_attr.grh.sgid_index = (uint8_t)(gid_index >= 0 ? gid_index : 0);
	attr.ah_attr.grh.hop_limit = 64;
	int ready = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (ibv_modify_qp(pairs[pe], &attr, ready | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		fail("ibv_modify_qp to RTR");
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = attr.rnr_retry = 7;
	attr.max_rd_atomic = 4;
	int sends = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN;
	if (ibv_modify_qp(pairs[pe], &attr, sends | IBV_QP_MAX_QP_RD_ATOMIC))
		fail("ibv_modify_qp to RTS");
}
static void allocate(long words, long entries)
{
	struct ibv_port_attr port;
	struct end own;
	size_t size = (size_t)((words + 1 + SPARE) * block) * sizeof(long);
	void *made = NULL;
	open_device();
	memset(&own, 0, sizeof own);
	struct ibv_pd *domain = ibv_alloc_pd(context);
	if (!domain || posix_memalign(&made, 4096, size))
		fail("allocating memory");
	memset(made, 0, size);
	memory = made;
	int access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	if (RELAXED)
		access |= IBV_ACCESS_RELAXED_ORDERING;
	region = ibv_reg_mr(domain, made, size, IBV_ACCESS_LOCAL_WRITE | access);
	if (!region || ibv_query_port(context, (uint8_t)atoi(told("PORT_NUMBER", "1")), &port))
		fail("ibv_reg_mr or ibv_query_port");
	int gid_index = atoi(told("GID_INDEX", port.link_layer == IBV_LINK_LAYER_ETHERNET ? "0" : "-1"));
	if (gid_index >= 0 && ibv_query_gid(context, (uint8_t)atoi(told("PORT_NUMBER", "1")), gid_index, &own.gid))
		fail("ibv_query_gid");
	own.address = (uintptr_t)made;
	own.key = region->rkey;
	own.lid = port.lid;
	for (int pe = 0; pe < PROCESSES; pe++) {
		struct ibv_qp_init_attr wanted;
		if (pe == me)
			continue;
		memset(&wanted, 0, sizeof wanted);
		queues[pe] = ibv_create_cq(context, 4 * DEPTH, NULL, NULL, 0);
		wanted.send_cq = wanted.recv_cq = queues[pe];
		wanted.qp_type = IBV_QPT_RC;
		wanted.cap.max_send_wr = DEPTH;
		wanted.cap.max_recv_wr = wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
		pairs[pe] = queues[pe] ? ibv_create_qp(domain, &wanted) : NULL;
		if (!pairs[pe])
			fail("ibv_create_qp");
		own.pairs[pe] = pairs[pe]->qp_num;
	}
	share(&own, sizeof own, ends);
	for (int pe = 0; pe < PROCESSES; pe++)
		if (pe != me)
			connect_pair(pe, &port, gid_index);
	state = calloc((size_t)entries, sizeof(long));
	meet();
}
static void progress(void)
{
}
/* A value that is left alone until the round has ended */
static volatile long *spare(long value)
{
	if (used_blocks == SPARE) {
		errno = ENOBUFS;
		fail("more values in one round than there is room for");
	}
	volatile long *made = &memory[(WORDS + 1 + used_blocks++) * block];
	for (long k = 0; k < block; k++)
		made[k] = value;
	return made + block - 1;
}
static void post(int pe, struct ibv_send_wr *request, volatile long *own, long count)
{
	struct ibv_sge sge = { (uintptr_t)own, (uint32_t)((size_t)count * sizeof(long)), region->lkey };
	struct ibv_send_wr *bad;
	request->sg_list = &sge;
	request->num_sge = 1;
	errno = ibv_post_send(pairs[pe], request, &bad);
	if (errno)
		fail("ibv_post_send");
}
static void move(enum ibv_wr_opcode opcode, volatile long *own, long k, int pe, unsigned flags, uint64_t id)
{
	struct ibv_send_wr request;
	memset(&request, 0, sizeof request);
	request.opcode = opcode;
	request.send_flags = flags;
	request.wr_id = id;
	request.wr.rdma.remote_addr = ends[pe].address + (uint64_t)(k * block) * sizeof(long);
	request.wr.rdma.rkey = ends[pe].key;
	post(pe, &request, block_of(own), block);
}
static void update(enum ibv_wr_opcode opcode, volatile long *own, long k, int pe, unsigned flags, long compare, long swap)
{
	struct ibv_send_wr request;
	memset(&request, 0, sizeof request);
	request.opcode = opcode;
	request.send_flags = flags;
	request.wr.atomic.remote_addr = ends[pe].address + (uint64_t)(k * block + block - 1) * sizeof(long);
	request.wr.atomic.rkey = ends[pe].key;
	request.wr.atomic.compare_add = (uint64_t)compare;
	request.wr.atomic.swap = (uint64_t)swap;
	post(pe, &request, own, 1);
}
static void put(volatile long *from, long k, int pe, unsigned flags)
{
	move(IBV_WR_RDMA_WRITE, from, k, pe, flags, 0);
}
static void put_value(long value, long k, int pe, unsigned flags)
{
	move(IBV_WR_RDMA_WRITE, spare(value), k, pe, flags, 0);
}
static void get(volatile long *to, long k, int pe, unsigned flags)
{
	move(IBV_WR_RDMA_READ, to, k, pe, flags, 0);
}
static void fetch_add(volatile long *to, long k, int pe, long value, unsigned flags)
{
	update(IBV_WR_ATOMIC_FETCH_AND_ADD, to, k, pe, flags, value, 0);
}
static void compare_set(volatile long *to, long k, int pe, long expected, long value, unsigned flags)
{
	update(IBV_WR_ATOMIC_CMP_AND_SWP, to, k, pe, flags, expected, value);
}
/* Take a completion; returns its number, or gives up after the time of a round. */
static uint64_t complete(int pe)
{
	struct ibv_wc completion;
	int found;
	while ((found = ibv_poll_cq(queues[pe], 1, &completion)) == 0)
		if (now() > deadline) {
			ended = 2;
			return 1;
		}
	if (found < 0 || completion.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "a request failed: %s\n", found < 0 ? "ibv_poll_cq" : ibv_wc_status_str(completion.status));
		exit(2);
	}
	return completion.wr_id;
}
static void completed_here(int pe)
{
	complete(pe);
}
/* All that was posted has arrived: a read behind it has come back. */
static void finish(void)
{
	deadline = now() + 60;
	for (int pe = 0; pe < PROCESSES; pe++) {
		if (pe == me)
			continue;
		move(IBV_WR_RDMA_READ, &memory[WORDS * block + block - 1], WORDS, pe, IBV_SEND_SIGNALED | IBV_SEND_FENCE, 1);
		while (complete(pe) != 1)
			;
	}
	meet();
}
static void record(long entry, long value)
{
	state[entry] = value;
}
static void gather(long entries)
{
	long *all = calloc((size_t)entries * PROCESSES, sizeof(long));
	share(state, (size_t)entries * sizeof(long), all);
	for (long k = 0; k < entries; k++) {
		state[k] = 0;
		for (int process = 0; process < PROCESSES; process++)
			state[k] += all[process * entries + k];
	}
	free(all);
}
static int stop(int answer)
{
	if (memory)
		meet();
	return answer;
}
"""
