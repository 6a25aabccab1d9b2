/* The card: requests take effect one after the other, each at its post, or where it waits for a receive once that is posted. */
#define RECORD_FIRST_QP 0x100u
#define RECORD_FIRST_KEY 0x1000u

static struct record_qp *record_qp_of(uint32_t number)
{
	struct record_qp *qp = number - RECORD_FIRST_QP < RECORD_QPS ? &record_shared->qp[number - RECORD_FIRST_QP] : NULL;
	return qp && qp->used ? qp : NULL;
}

static uint32_t record_number_of(const struct record_qp *qp) { return RECORD_FIRST_QP + (uint32_t)(qp - record_shared->qp); }

/* Copy between the memories of two processes, at least one of which is this one. */
static void record_copy(int from, uint64_t source, int to, uint64_t target, size_t length)
{
	struct iovec here = { 0 }, there = { 0 };
	ssize_t done = (ssize_t)length;
	here.iov_len = there.iov_len = length;
	if (from == record_me.pid && to == record_me.pid) {
		memmove((void *)(uintptr_t)target, (void *)(uintptr_t)source, length);
	} else if (from == record_me.pid) {
		here.iov_base = (void *)(uintptr_t)source, there.iov_base = (void *)(uintptr_t)target;
		done = process_vm_writev(to, &here, 1, &there, 1, 0);
	} else {
		here.iov_base = (void *)(uintptr_t)target, there.iov_base = (void *)(uintptr_t)source;
		done = process_vm_readv(from, &here, 1, &there, 1, 0);
	}
	if (done != (ssize_t)length)
		record_fail("the NIC cannot copy %zu bytes between processes %d and %d: %s", length, from, to, done < 0 ? strerror(errno) : "the memory is gone");
}

static const struct record_region *record_region_of(int pid, uint64_t address, uint64_t length, int access, uint32_t key)
{
	for (unsigned i = 0; i < record_shared->regions; i++) {
		const struct record_region *r = &record_shared->region[i];
		if (r->pid == pid && r->length && address - r->address <= r->length && length <= r->length - (address - r->address) && (r->access & access) == access && (!key || key == RECORD_FIRST_KEY + i))
			return r;
	}
	return NULL;
}

static void record_need_region(int pid, uint64_t address, uint64_t length, int access, uint32_t key, const char *what)
{
	if (length && !record_region_of(pid, address, length, access, key))
		record_fail("%s: process %d has registered no memory at 0x%llx, %llu bytes%s%s", what, pid, (unsigned long long)address, (unsigned long long)length,
			    access ? ", with the access that this needs" : "", key ? ", under the key that is used" : "");
}

static void record_complete(uint32_t number, int is_receive, uint64_t id, uint32_t opcode, uint32_t length, uint32_t imm, uint32_t flags)
{
	struct record_qp *qp = record_qp_of(number);
	struct record_cq *cq = &record_shared->cq[is_receive ? qp->recv_cq : qp->send_cq];
	if (cq->last - cq->first >= RECORD_COMPLETIONS)
		record_fail("limit: more than %d completions that nobody has polled", RECORD_COMPLETIONS);
	struct record_completion *c = &cq->completion[cq->last++ % RECORD_COMPLETIONS];
	c->id = id, c->opcode = opcode, c->length = length, c->imm = imm, c->flags = flags, c->qp = number, c->is_receive = (uint32_t)is_receive;
	if (cq->armed && cq->channel) {
		char path[4096], told = (char)(cq - record_shared->cq);
		cq->armed = 0;
		snprintf(path, sizeof path, "%s/channel.%d", record_folder, cq->channel);
		int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		if (file >= 0)
			record_write(file, &told, 1), syscall(SYS_close, file);
	}
}

/* End what waits on a queue pair that is given up: its completions are no success, and no events of a run. */
#define RECORD_FLUSHED (1u << 31)
static void record_flush_pair(struct record_qp *qp)
{
	uint32_t number = record_number_of(qp);
	for (; qp->first != qp->last; qp->first++)
		record_complete(number, 0, qp->request[qp->first % RECORD_REQUESTS].id, IBV_WC_SEND, 0, 0, RECORD_FLUSHED);
	for (; qp->first_receive != qp->last_receive; qp->first_receive++)
		record_complete(number, 1, qp->receive[qp->first_receive % RECORD_REQUESTS].id, IBV_WC_RECV, 0, 0, RECORD_FLUSHED);
}

/* Carry the data of a message or a write to pieces of memory one after the other. */
static void record_gather(struct record_qp *qp, struct record_request *r, int to, const struct record_piece *piece, unsigned pieces)
{
	unsigned at = 0;
	uint32_t within = 0;
	int is_inline = (r->flags & IBV_SEND_INLINE) != 0; /* its data is in the memory that all share */
	for (unsigned i = 0; i < (is_inline ? 1 : r->pieces); i++) {
		uint64_t source = is_inline ? (uint64_t)(uintptr_t)r->data : r->piece[i].address;
		uint32_t left = is_inline ? r->length : r->piece[i].length;
		while (left) {
			while (at < pieces && within == piece[at].length)
				at++, within = 0;
			if (at == pieces)
				record_fail("a message of %u bytes is longer than the receive that it finds", r->length);
			uint32_t part = piece[at].length - within < left ? piece[at].length - within : left;
			record_copy(is_inline ? record_me.pid : qp->pid, source, to, piece[at].address + within, part);
			source += part, left -= part, within += part;
		}
	}
}

/* Make a request; returns whether it could be made. */
static int record_make(struct record_qp *qp, struct record_request *r)
{
	struct record_qp *peer = record_qp_of(qp->peer);
	int takes = r->opcode == IBV_WR_SEND || r->opcode == IBV_WR_SEND_WITH_IMM || r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	uint32_t opcode = IBV_WC_SEND, with_imm = r->opcode == IBV_WR_SEND_WITH_IMM || r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	if (!peer)
		record_fail("queue pair %u is connected with queue pair %u, which does not exist", record_number_of(qp), qp->peer);
	struct record_qp *queue = peer->srq ? record_qp_of(peer->srq) : peer;
	if (takes && queue->first_receive == queue->last_receive)
		return 0;
	if (r->opcode == IBV_WR_RDMA_WRITE || r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		struct record_piece target = { r->remote, r->length };
		record_need_region(peer->pid, r->remote, r->length, IBV_ACCESS_REMOTE_WRITE, r->rkey, "RDMA write");
		record_gather(qp, r, peer->pid, &target, 1);
		opcode = IBV_WC_RDMA_WRITE;
	} else if (r->opcode == IBV_WR_RDMA_READ) {
		uint64_t from = r->remote;
		record_need_region(peer->pid, r->remote, r->length, IBV_ACCESS_REMOTE_READ, r->rkey, "RDMA read");
		for (unsigned i = 0; i < r->pieces; from += r->piece[i++].length)
			record_copy(peer->pid, from, qp->pid, r->piece[i].address, r->piece[i].length);
		opcode = IBV_WC_RDMA_READ;
	} else if (r->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || r->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		uint64_t old, new_;
		int swaps = r->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
		record_need_region(peer->pid, r->remote, 8, IBV_ACCESS_REMOTE_ATOMIC, r->rkey, "remote atomic");
		record_copy(peer->pid, r->remote, record_me.pid, (uint64_t)(uintptr_t)&old, 8);
		new_ = !swaps ? old + r->compare : old == r->compare ? r->swap : old;
		record_copy(record_me.pid, (uint64_t)(uintptr_t)&new_, peer->pid, r->remote, 8);
		record_copy(record_me.pid, (uint64_t)(uintptr_t)&old, qp->pid, r->piece[0].address, 8);
		opcode = swaps ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD;
	}
	if (takes) {
		struct record_receive *v = &queue->receive[queue->first_receive++ % RECORD_REQUESTS];
		int writes = r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
		if (!writes)
			record_gather(qp, r, peer->pid, v->piece, v->pieces);
		record_complete(qp->peer, 1, v->id, writes ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV, r->length, r->imm, with_imm ? IBV_WC_WITH_IMM : 0);
	}
	record_line("E");
	record_say(" %u", record_number_of(qp));
	record_where(0);
	if (r->flags & IBV_SEND_SIGNALED)
		record_complete(record_number_of(qp), 0, r->id, opcode, r->length, 0, 0);
	return 1;
}

static void record_go_on(struct record_qp *qp)
{
	while (qp->first != qp->last && record_make(qp, &qp->request[qp->first % RECORD_REQUESTS]))
		qp->first++;
}

/* Take over a work request: the data of an inline one is read now. */
static void record_post(struct record_qp *qp, const struct ibv_send_wr *w, uintptr_t pc)
{
	if (qp->last - qp->first >= RECORD_REQUESTS)
		record_fail("limit: more than %d requests of a queue pair wait for receives", RECORD_REQUESTS);
	if (w->num_sge > RECORD_SGES)
		record_fail("limit: a request with more than %d pieces", RECORD_SGES);
	struct record_request *r = &qp->request[qp->last % RECORD_REQUESTS];
	int atomic = w->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || w->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD, reads = w->opcode == IBV_WR_RDMA_READ;
	if (w->opcode > IBV_WR_ATOMIC_FETCH_AND_ADD)
		record_fail("work requests of opcode %d are not answered: only WRITE, READ, SEND, compare-and-swap and fetch-and-add", w->opcode);
	r->id = w->wr_id, r->opcode = w->opcode, r->flags = w->send_flags | (qp->all_signaled ? IBV_SEND_SIGNALED : 0);
	r->imm = w->imm_data, r->pieces = (uint32_t)w->num_sge, r->length = 0;
	if (atomic || reads)
		r->flags &= ~(uint32_t)IBV_SEND_INLINE;
	r->remote = atomic ? w->wr.atomic.remote_addr : w->wr.rdma.remote_addr, r->rkey = atomic ? w->wr.atomic.rkey : w->wr.rdma.rkey;
	r->compare = atomic ? w->wr.atomic.compare_add : 0, r->swap = atomic ? w->wr.atomic.swap : 0;
	record_line("P");
	record_say(" %u %u %u %llx %llx %llx %x %u", record_number_of(qp), r->opcode, r->flags, (unsigned long long)r->remote, (unsigned long long)r->compare, (unsigned long long)r->swap,
		   ntohl(r->imm), r->pieces);
	for (int i = 0; i < w->num_sge; i++) {
		const struct ibv_sge *s = &w->sg_list[i];
		int is_inline = (r->flags & IBV_SEND_INLINE) != 0;
		if (is_inline && r->length + s->length > RECORD_INLINE)
			record_fail("inline data of more than %d bytes", RECORD_INLINE);
		if (is_inline)
			memcpy(r->data + r->length, (void *)(uintptr_t)s->addr, s->length);
		else
			record_need_region(qp->pid, s->addr, s->length, atomic || reads ? IBV_ACCESS_LOCAL_WRITE : 0, s->lkey, "a request of this process");
		r->piece[i].address = s->addr, r->piece[i].length = s->length, r->length += s->length;
		record_say(" %llx %x ", (unsigned long long)s->addr, s->length);
		for (uint32_t k = 0; is_inline && k < s->length; k++)
			record_say("%02x", r->data[r->length - s->length + k]);
		if (!is_inline)
			record_say("-");
	}
	if (atomic && (r->length != 8 || r->pieces != 1))
		record_fail("a remote atomic takes one piece of 8 bytes");
	record_where(pc);
	qp->last++;
	record_go_on(qp);
}
