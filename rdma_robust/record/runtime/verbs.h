/* The functions of libibverbs. What is not here is refused when it is called, or by what its verbs.h falls back to. */
struct record_handle { struct ibv_qp_ex ex; struct ibv_qp_cap cap; struct record_built *built; unsigned building; };
struct record_completions { struct ibv_cq cq; int index; };
struct record_channel { struct ibv_comp_channel channel; int number; struct ibv_cq *of[RECORD_CQS]; };
static struct ibv_device record_device;
static struct ibv_device *record_devices[2] = { &record_device, NULL };

static void record_need(const char *what)
{
	if (!record_enter())
		record_fail("%s: this program is built for recordings: run it with `rdma-robust record -- PROGRAM`", what);
}

static int record_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	uintptr_t pc = RECORD_PC;
	(void)bad;
	record_need("ibv_post_send");
	struct record_qp *own = record_qp_of(qp->qp_num);
	if (qp->state != IBV_QPS_RTS)
		record_fail("ibv_post_send on a queue pair that is not ready to send: ibv_modify_qp to IBV_QPS_RTS comes first");
	for (; wr; wr = wr->next)
		record_post(own, wr, pc);
	record_exit();
	return 0;
}

/* Post receives to a queue of a queue pair, or to a shared one. */
static int record_post_receives(uint32_t number, struct ibv_recv_wr *wr, uintptr_t pc)
{
	record_need("ibv_post_recv");
	struct record_qp *own = record_qp_of(number);
	for (; wr; wr = wr->next) {
		if (own->last_receive - own->first_receive >= RECORD_REQUESTS || wr->num_sge > RECORD_SGES)
			record_fail("limit: more than %d receives, or one with more than %d pieces", RECORD_REQUESTS, RECORD_SGES);
		struct record_receive *r = &own->receive[own->last_receive++ % RECORD_REQUESTS];
		r->id = wr->wr_id, r->pieces = (uint32_t)wr->num_sge;
		record_line("V");
		record_say(" %u %u", number, r->pieces);
		for (int i = 0; i < wr->num_sge; i++) {
			record_need_region(own->pid, wr->sg_list[i].addr, wr->sg_list[i].length, IBV_ACCESS_LOCAL_WRITE, wr->sg_list[i].lkey, "a receive of this process");
			r->piece[i].address = wr->sg_list[i].addr, r->piece[i].length = wr->sg_list[i].length;
			record_say(" %llx %x", (unsigned long long)r->piece[i].address, r->piece[i].length);
		}
		record_where(pc);
		for (uint32_t each = RECORD_FIRST_QP; each < RECORD_FIRST_QP + RECORD_QPS; each++) {
			struct record_qp *user = record_qp_of(each);
			if (user && (each == number || user->srq == number) && record_qp_of(user->peer))
				record_go_on(record_qp_of(user->peer));
		}
	}
	record_exit();
	return 0;
}

static int record_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	uintptr_t pc = RECORD_PC;
	(void)bad;
	return record_post_receives(qp->qp_num, wr, pc);
}

#include "extended.h"

static int record_poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
	uintptr_t pc = RECORD_PC;
	record_need("ibv_poll_cq");
	struct record_cq *own = &record_shared->cq[((struct record_completions *)cq)->index];
	int found = 0;
	for (; found < most && own->first != own->last; found++) {
		struct record_completion *c = &own->completion[own->first++ % RECORD_COMPLETIONS];
		memset(&wc[found], 0, sizeof *wc);
		wc[found].wr_id = c->id, wc[found].opcode = (enum ibv_wc_opcode)c->opcode, wc[found].byte_len = c->length;
		wc[found].imm_data = c->imm, wc[found].qp_num = c->qp, wc[found].wc_flags = c->flags, wc[found].src_qp = record_qp_of(c->qp)->peer;
		if (c->flags & RECORD_FLUSHED) {
			wc[found].wc_flags = 0, wc[found].status = IBV_WC_WR_FLUSH_ERR;
			continue;
		}
		record_line("C");
		record_say(" %u %u %u %x", c->qp, c->is_receive, c->flags & IBV_WC_WITH_IMM ? 1 : 0, ntohl(c->imm));
		record_where(pc);
	}
	record_exit();
	if (!found)
		syscall(SYS_sched_yield);
	return found;
}

static int record_req_notify(struct ibv_cq *cq, int solicited)
{
	(void)solicited;
	record_need("ibv_req_notify_cq");
	record_shared->cq[((struct record_completions *)cq)->index].armed = 1;
	record_exit();
	return 0;
}

static uint32_t record_queue_pair(const char *call)
{
	uint32_t index = 0;
	while (index < RECORD_QPS && record_shared->qp[index].used)
		index++;
	if (index == RECORD_QPS)
		record_fail("limit: more than %d queue pairs and shared receive queues (%s)", RECORD_QPS, call);
	record_shared->qp[index].used = 1, record_shared->qp[index].pid = record_me.pid;
	return index;
}
static struct ibv_qp *record_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, uintptr_t pc)
{
	record_need("ibv_create_qp");
	struct record_handle *made = calloc(1, sizeof *made);
	struct ibv_qp *qp = &made->ex.qp_base;
	if (attr->qp_type != IBV_QPT_RC)
		record_fail("ibv_create_qp: only queue pairs with reliable connections (IBV_QPT_RC) are answered");
	uint32_t index = record_queue_pair("ibv_create_qp");
	struct record_qp *own = &record_shared->qp[index];
	own->all_signaled = attr->sq_sig_all, own->srq = attr->srq ? *record_number_of_srq(attr->srq) : 0;
	own->send_cq = ((struct record_completions *)attr->send_cq)->index, own->recv_cq = ((struct record_completions *)attr->recv_cq)->index;
	qp->context = pd->context, qp->qp_context = attr->qp_context, qp->pd = pd, qp->send_cq = attr->send_cq, qp->recv_cq = attr->recv_cq;
	qp->srq = attr->srq, qp->qp_num = RECORD_FIRST_QP + index, qp->state = IBV_QPS_RESET, qp->qp_type = attr->qp_type;
	if (attr->cap.max_inline_data < 256)
		attr->cap.max_inline_data = 256;
	made->cap = attr->cap;
	record_line("Q");
	record_say(" %u %u", qp->qp_num, own->srq);
	record_where(pc);
	record_exit();
	return qp;
}
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr) { return record_create_qp(pd, attr, RECORD_PC); }

struct ibv_device **ibv_get_device_list(int *number)
{
	if (number)
		*number = 1;
	strcpy(record_device.name, "recorder0");
	return record_devices;
}
void ibv_free_device_list(struct ibv_device **list) { (void)list; }
const char *ibv_get_device_name(struct ibv_device *device) { return device->name; }
__be64 ibv_get_device_guid(struct ibv_device *device) { (void)device; return 1; }
struct ibv_context *ibv_open_device(struct ibv_device *device)
{
#ifdef RDMA_ROBUST_VERBS_H
	struct ibv_context *context = calloc(1, sizeof *context);
#else
	struct verbs_context *extended = calloc(1, sizeof *extended);
	struct ibv_context *context = &extended->context;
	extended->sz = sizeof *extended, extended->create_qp_ex = record_create_qp_ex;
	context->abi_compat = __VERBS_ABI_IS_EXTENDED, context->ops.post_srq_recv = record_post_srq_recv;
#endif
	context->device = device, context->num_comp_vectors = 1, context->async_fd = context->cmd_fd = -1;
#ifndef RDMA_ROBUST_VERBS_H
	context->ops.post_send = record_post_send, context->ops.post_recv = record_post_recv;
	context->ops.poll_cq = record_poll_cq, context->ops.req_notify_cq = record_req_notify;
#endif
	return context;
}
int ibv_close_device(struct ibv_context *context) { (void)context; return 0; }
int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	memset(attr, 0, sizeof *attr);
	attr->max_qp = RECORD_QPS, attr->max_cq = RECORD_CQS, attr->max_qp_wr = RECORD_REQUESTS, attr->max_sge = RECORD_SGES;
	attr->max_cqe = RECORD_COMPLETIONS, attr->max_mr_size = 1ul << 40;
#ifndef RDMA_ROBUST_VERBS_H
	attr->max_mr = RECORD_REGIONS, attr->phys_port_cnt = 1, attr->atomic_cap = IBV_ATOMIC_HCA, attr->max_qp_rd_atom = attr->max_qp_init_rd_atom = 16;
#endif
	return 0;
}
#ifdef RDMA_ROBUST_VERBS_H
int ibv_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *found)
#else
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *found)
#endif
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)found;
	(void)context, (void)port;
	attr->state = IBV_PORT_ACTIVE, attr->max_mtu = attr->active_mtu = IBV_MTU_4096, attr->gid_tbl_len = 1;
	attr->max_msg_sz = 1u << 30, attr->lid = 1, attr->link_layer = IBV_LINK_LAYER_INFINIBAND;
	return 0;
}
int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	(void)context, (void)port, (void)index;
	memset(gid, 0, sizeof *gid);
	gid->raw[15] = 1;
	return 0;
}
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof *pd);
	pd->context = context;
	return pd;
}
int ibv_dealloc_pd(struct ibv_pd *pd) { free(pd); return 0; }
int ibv_fork_init(void) { return 0; }

/* What memory holds when it is registered is what it holds at the start. */
static void record_snapshot(unsigned index, uintptr_t address, size_t length)
{
	static const char nothing[4096];
	char path[4096];
	snprintf(path, sizeof path, "%s/region.%u", record_folder, index);
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	for (size_t at = 0; at < length; at += 4096) {
		size_t part = length - at < 4096 ? length - at : 4096;
		if (memcmp((char *)address + at, nothing, part))
			if (pwrite(file, (char *)address + at, part, (off_t)at) != (ssize_t)part)
				record_fail("cannot write %s: %s", path, strerror(errno));
	}
	close(file);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned access)
{
	uintptr_t pc = RECORD_PC;
	record_need("ibv_reg_mr");
	struct ibv_mr *mr = calloc(1, sizeof *mr);
	unsigned index = record_shared->regions;
	if (index >= RECORD_REGIONS || iova != (uintptr_t)address)
		record_fail("ibv_reg_mr: more than %d regions, or one whose addresses are not its own, are not answered", RECORD_REGIONS);
	record_snapshot(index, (uintptr_t)address, length);
	record_shared->region[index].pid = record_me.pid, record_shared->region[index].access = (int)access;
	record_shared->region[index].address = (uintptr_t)address, record_shared->region[index].length = length;
	record_shared->regions = index + 1;
	record_own[record_owned].address = (uintptr_t)address, record_own[record_owned].length = length;
	record_owned++;
	record_line("M");
	record_say(" %u %lx %lx %u", index, (record_word)(uintptr_t)address, (record_word)length, access);
	record_where(pc);
	mr->context = pd->context, mr->pd = pd, mr->addr = address, mr->length = length, mr->lkey = mr->rkey = RECORD_FIRST_KEY + index;
	record_exit();
	return mr;
}
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access) { return ibv_reg_mr_iova2(pd, address, length, (uintptr_t)address, (unsigned)access); }
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, int access) { return ibv_reg_mr_iova2(pd, address, length, iova, (unsigned)access); }
int ibv_dereg_mr(struct ibv_mr *mr)
{
	record_need("ibv_dereg_mr");
	record_shared->region[mr->lkey - RECORD_FIRST_KEY].length = 0;
	record_exit();
	free(mr);
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	char path[4096];
	record_need("ibv_create_comp_channel");
	struct record_channel *made = calloc(1, sizeof *made);
	made->number = (int)++record_shared->channels;
	snprintf(path, sizeof path, "%s/channel.%d", record_folder, made->number);
	made->channel.context = context;
	made->channel.fd = mkfifo(path, 0600) ? -1 : open(path, O_RDWR | O_CLOEXEC);
	if (made->channel.fd < 0)
		record_fail("cannot make a completion channel, %s: %s", path, strerror(errno));
	record_exit();
	return &made->channel;
}
int ibv_destroy_comp_channel(struct ibv_comp_channel *channel) { close(channel->fd); free(channel); return 0; }
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	unsigned char told;
	RECORD_NEXT(read); /* a point at which a thread may be cancelled */
	record_settle();
	if (next(channel->fd, &told, 1) != 1)
		return -1;
	*cq = ((struct record_channel *)channel)->of[told];
	*cq_context = (*cq)->cq_context;
	return 0;
}
void ibv_ack_cq_events(struct ibv_cq *cq, unsigned number) { (void)cq, (void)number; }

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int size, void *cq_context, struct ibv_comp_channel *channel, int vector)
{
	(void)vector;
	record_need("ibv_create_cq");
	struct record_completions *made = calloc(1, sizeof *made);
	while (made->index < RECORD_CQS && record_shared->cq[made->index].used)
		made->index++;
	if (made->index == RECORD_CQS)
		record_fail("limit: more than %d completion queues", RECORD_CQS);
	struct record_cq *own = &record_shared->cq[made->index];
	own->used = 1, own->pid = record_me.pid;
	made->cq.context = context, made->cq.cq_context = cq_context, made->cq.channel = channel, made->cq.cqe = size;
	if (channel) {
		own->channel = ((struct record_channel *)channel)->number;
		((struct record_channel *)channel)->of[made->index] = &made->cq;
	}
	record_exit();
	return &made->cq;
}
int ibv_destroy_cq(struct ibv_cq *cq) { (void)cq; return 0; }

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	uintptr_t pc = RECORD_PC;
	record_need("ibv_modify_qp");
	struct record_qp *own = record_qp_of(qp->qp_num);
	if (mask & IBV_QP_DEST_QPN) {
		own->peer = attr->dest_qp_num;
		if (!record_qp_of(own->peer))
			record_fail("ibv_modify_qp: there is no queue pair %u to connect with", own->peer);
	}
	if (mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	if (qp->state == IBV_QPS_ERR)
		record_flush_pair(own);
	if (mask & (IBV_QP_DEST_QPN | IBV_QP_RNR_RETRY)) {
		record_line("K");
		record_say(" %u %u %d", qp->qp_num, own->peer, mask & IBV_QP_RNR_RETRY ? attr->rnr_retry : -1);
		record_where(pc);
	}
	record_exit();
	return 0;
}
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	(void)mask;
	memset(attr, 0, sizeof *attr), memset(init, 0, sizeof *init);
	attr->qp_state = attr->cur_qp_state = qp->state, attr->dest_qp_num = record_qp_of(qp->qp_num)->peer;
	attr->cap = init->cap = ((struct record_handle *)qp)->cap;
	init->send_cq = qp->send_cq, init->recv_cq = qp->recv_cq, init->qp_type = qp->qp_type;
	return 0;
}
int ibv_destroy_qp(struct ibv_qp *qp) { (void)qp; return 0; } /* what is under way goes on: its number stays */
const char *ibv_wc_status_str(enum ibv_wc_status status) { return status == IBV_WC_SUCCESS ? "success" : "error"; }
#ifdef RDMA_ROBUST_VERBS_H
int ibv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad) { return record_post_send(qp, wr, bad); }
int ibv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) { return record_post_recv(qp, wr, bad); }
int ibv_poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *wc) { return record_poll_cq(cq, most, wc); }
int ibv_req_notify_cq(struct ibv_cq *cq, int solicited) { return record_req_notify(cq, solicited); }
#endif
