/* What extended verbs add: shared receive queues, and requests that are built call by call. */
struct record_srq { struct ibv_srq srq; uint32_t number; };
static uint32_t *record_number_of_srq(struct ibv_srq *srq) { return &((struct record_srq *)srq)->number; }
static uint32_t record_queue_pair(const char *call);
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned access);
static struct ibv_qp *record_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, uintptr_t pc);

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	record_need("ibv_create_srq");
	struct record_srq *made = calloc(1, sizeof *made);
	made->srq.context = pd->context, made->srq.srq_context = attr->srq_context, made->srq.pd = pd;
	made->number = RECORD_FIRST_QP + record_queue_pair("ibv_create_srq");
	record_exit();
	return &made->srq;
}
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask) { (void)srq, (void)attr, (void)mask; return 0; }
int ibv_destroy_srq(struct ibv_srq *srq) { (void)srq; return 0; }
static int record_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	uintptr_t pc = RECORD_PC;
	(void)bad;
	return record_post_receives(*record_number_of_srq(srq), wr, pc);
}

/* Requests between ibv_wr_start and ibv_wr_complete: they are posted by the latter. */
#define RECORD_BUILT 64
struct record_built {
	struct ibv_send_wr wr;
	struct ibv_sge sge[RECORD_SGES];
	unsigned char data[RECORD_INLINE]; /* inline data, as it was when it was set */
	uintptr_t pc;
};
#ifdef RDMA_ROBUST_VERBS_H
#define RECORD_WR(result, name) result ibv_##name
#else
#define RECORD_WR(result, name) static result record_##name
#endif
#define RECORD_HANDLE(qp) struct record_handle *made = (struct record_handle *)(qp)

RECORD_WR(void, wr_start)(struct ibv_qp_ex *qp)
{
	RECORD_HANDLE(qp);
	if (!made->built)
		made->built = calloc(RECORD_BUILT, sizeof *made->built);
	made->building = 0;
}
RECORD_WR(void, wr_abort)(struct ibv_qp_ex *qp) { ((struct record_handle *)qp)->building = 0; }
RECORD_WR(int, wr_complete)(struct ibv_qp_ex *qp)
{
	RECORD_HANDLE(qp);
	for (unsigned i = 0; i < made->building; i++) {
		struct record_built *b = &made->built[i];
		uint32_t at = 0;
		b->wr.sg_list = b->sge;
		for (int k = 0; (b->wr.send_flags & IBV_SEND_INLINE) && k < b->wr.num_sge; at += b->sge[k++].length)
			if (memcmp((void *)(uintptr_t)b->sge[k].addr, b->data + at, b->sge[k].length))
				record_fail("inline data that changes between ibv_wr_set_inline_data and ibv_wr_complete is not recorded");
	}
	record_need("ibv_wr_complete");
	for (unsigned i = 0; i < made->building; i++)
		record_post(record_qp_of(qp->qp_base.qp_num), &made->built[i].wr, made->built[i].pc);
	made->building = 0;
	record_exit();
	return 0;
}
static struct record_built *record_build(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uintptr_t pc)
{
	RECORD_HANDLE(qp);
	if (!made->built || made->building == RECORD_BUILT)
		record_fail("a request without ibv_wr_start, or limit: more than %d of them before ibv_wr_complete", RECORD_BUILT);
	struct record_built *b = &made->built[made->building++];
	memset(&b->wr, 0, sizeof b->wr);
	b->wr.wr_id = qp->wr_id, b->wr.send_flags = qp->wr_flags, b->wr.opcode = opcode, b->pc = pc;
	return b;
}
static struct record_built *record_build_remote(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t remote, uintptr_t pc)
{
	struct record_built *b = record_build(qp, opcode, pc);
	b->wr.wr.rdma.remote_addr = remote, b->wr.wr.rdma.rkey = rkey;
	return b;
}
static void record_build_atomic(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t remote, uint64_t compare_add, uint64_t swap, uintptr_t pc)
{
	struct record_built *b = record_build(qp, opcode, pc);
	b->wr.wr.atomic.remote_addr = remote, b->wr.wr.atomic.rkey = rkey;
	b->wr.wr.atomic.compare_add = compare_add, b->wr.wr.atomic.swap = swap;
}
RECORD_WR(void, wr_rdma_write)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote) { record_build_remote(qp, IBV_WR_RDMA_WRITE, rkey, remote, RECORD_PC); }
RECORD_WR(void, wr_rdma_write_imm)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote, __be32 imm) { record_build_remote(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote, RECORD_PC)->wr.imm_data = imm; }
RECORD_WR(void, wr_rdma_read)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote) { record_build_remote(qp, IBV_WR_RDMA_READ, rkey, remote, RECORD_PC); }
RECORD_WR(void, wr_send)(struct ibv_qp_ex *qp) { record_build(qp, IBV_WR_SEND, RECORD_PC); }
RECORD_WR(void, wr_send_imm)(struct ibv_qp_ex *qp, __be32 imm) { record_build(qp, IBV_WR_SEND_WITH_IMM, RECORD_PC)->wr.imm_data = imm; }
RECORD_WR(void, wr_atomic_cmp_swp)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote, uint64_t compare, uint64_t swap) { record_build_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote, compare, swap, RECORD_PC); }
RECORD_WR(void, wr_atomic_fetch_add)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote, uint64_t add) { record_build_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote, add, 0, RECORD_PC); }

/* The memory of the request that was begun last */
static void record_set(struct ibv_qp_ex *qp, size_t number, const struct ibv_sge *sge, int is_inline)
{
	RECORD_HANDLE(qp);
	if (!made->building || number > RECORD_SGES)
		record_fail("memory without a request, or limit: a request with more than %d pieces", RECORD_SGES);
	struct record_built *b = &made->built[made->building - 1];
	uint32_t at = 0;
	b->wr.num_sge = (int)number;
	for (size_t i = 0; i < number; i++) {
		b->sge[i] = sge[i];
		if (!is_inline)
			continue;
		b->wr.send_flags |= IBV_SEND_INLINE;
		if (at + sge[i].length > RECORD_INLINE)
			record_fail("inline data of more than %d bytes", RECORD_INLINE);
		memcpy(b->data + at, (void *)(uintptr_t)sge[i].addr, sge[i].length);
		at += sge[i].length;
	}
}
RECORD_WR(void, wr_set_sge)(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t address, uint32_t length)
{
	struct ibv_sge sge = { address, length, lkey };
	record_set(qp, length != 0, &sge, 0);
}
RECORD_WR(void, wr_set_sge_list)(struct ibv_qp_ex *qp, size_t number, const struct ibv_sge *list) { record_set(qp, number, list, 0); }
RECORD_WR(void, wr_set_inline_data)(struct ibv_qp_ex *qp, void *address, size_t length)
{
	struct ibv_sge sge = { (uintptr_t)address, (uint32_t)length, 0 };
	record_set(qp, 1, &sge, 1);
}

#ifdef RDMA_ROBUST_VERBS_H
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp) { return &((struct record_handle *)qp)->ex; }
int ibv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) { return record_post_srq_recv(srq, wr, bad); }
struct ibv_qp *ibv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	(void)context;
	return record_create_qp(attr->pd, (struct ibv_qp_init_attr *)attr, RECORD_PC);
}
#else
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp) { return ((struct record_handle *)qp)->ex.wr_start ? &((struct record_handle *)qp)->ex : NULL; }
static void record_set_list(struct ibv_qp_ex *qp, size_t number, const struct ibv_data_buf *list)
{
	struct ibv_sge sge[RECORD_SGES];
	for (size_t i = 0; i < number && i < RECORD_SGES; i++)
		sge[i].addr = (uintptr_t)list[i].addr, sge[i].length = (uint32_t)list[i].length, sge[i].lkey = 0;
	record_set(qp, number, sge, 1);
}
static struct ibv_qp *record_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	uintptr_t pc = RECORD_PC;
	(void)context;
	if (attr->comp_mask & ~(uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		record_fail("ibv_create_qp_ex: of what comp_mask asks for (%x) only IBV_QP_INIT_ATTR_PD and IBV_QP_INIT_ATTR_SEND_OPS_FLAGS are answered", attr->comp_mask);
	struct ibv_qp *made = record_create_qp(attr->pd, (struct ibv_qp_init_attr *)attr, pc);
	struct ibv_qp_ex *ex = &((struct record_handle *)made)->ex;
	ex->wr_start = record_wr_start, ex->wr_complete = record_wr_complete, ex->wr_abort = record_wr_abort;
	ex->wr_rdma_write = record_wr_rdma_write, ex->wr_rdma_write_imm = record_wr_rdma_write_imm, ex->wr_rdma_read = record_wr_rdma_read;
	ex->wr_send = record_wr_send, ex->wr_send_imm = record_wr_send_imm;
	ex->wr_atomic_cmp_swp = record_wr_atomic_cmp_swp, ex->wr_atomic_fetch_add = record_wr_atomic_fetch_add;
	ex->wr_set_sge = record_wr_set_sge, ex->wr_set_sge_list = record_wr_set_sge_list;
	ex->wr_set_inline_data = record_wr_set_inline_data, ex->wr_set_inline_data_list = record_set_list;
	return made;
}
#endif

/* Memory by the library, of newer verbs.h */
struct ibv_buf;
void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **made)
{
	void *memory = NULL;
	(void)pd;
	if (posix_memalign(&memory, 4096, size))
		return NULL;
	*made = (struct ibv_buf *)memory;
	return memory;
}
void ibv_free_buf(struct ibv_buf *made) { free(made); }
struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *made, void *address, size_t length, int access)
{
	(void)made;
	return ibv_reg_mr_iova2(pd, address, length, (uintptr_t)address, (unsigned)access);
}

/* Everything else links, and is refused when it is called. Their own names in C are declared with other types. */
static void record_refused(const char *name) __attribute__((noreturn));
static void record_refused(const char *name)
{
	record_need(name);
	record_fail("%s is not answered by the NIC of recordings", name);
}
#define RECORD_REFUSED(name) \
	void record_refused_##name(void) __asm__(#name); \
	void record_refused_##name(void) { record_refused(#name); }
RECORD_REFUSED(ibv_alloc_mw) RECORD_REFUSED(ibv_dealloc_mw) RECORD_REFUSED(ibv_bind_mw)
RECORD_REFUSED(ibv_create_ah) RECORD_REFUSED(ibv_create_ah_from_wc) RECORD_REFUSED(ibv_init_ah_from_wc) RECORD_REFUSED(ibv_destroy_ah)
RECORD_REFUSED(ibv_attach_mcast) RECORD_REFUSED(ibv_detach_mcast) RECORD_REFUSED(ibv_reg_dmabuf_mr) RECORD_REFUSED(ibv_rereg_mr)
RECORD_REFUSED(ibv_resize_cq) RECORD_REFUSED(ibv_query_srq) RECORD_REFUSED(ibv_set_ece) RECORD_REFUSED(ibv_query_ece)
RECORD_REFUSED(ibv_import_device) RECORD_REFUSED(ibv_import_pd) RECORD_REFUSED(ibv_import_mr) RECORD_REFUSED(ibv_import_dm)
