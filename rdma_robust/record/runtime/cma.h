/* Connections by librdmacm: ports of listeners stand in the memory that all share, events go through named pipes, so that they
   can be waited for by poll. An event orders who caused it before who gets it, as the bytes of a pipe do. */
#define RECORD_PRIVATE 256
#define RECORD_WAIT_S 5
struct record_told { /* an event in a pipe */
	int type, id, peer; /* ids are numbers of record_shared->id; peer is 0 or who asks for a connection */
	uint32_t qp;
	unsigned size;
	struct rdma_conn_param conn;
	unsigned char data[RECORD_PRIVATE];
};
struct record_events { struct rdma_event_channel channel; int number; };
struct record_cm {
	struct rdma_cm_id id;
	int number, is_sync, has_attr;
	uint16_t port;
	struct ibv_qp_init_attr attr;
	struct record_told asked; /* of a connection that was asked for */
	struct record_cm *next;
};
struct record_cm_event { struct rdma_cm_event event; struct record_told told; };
static struct record_cm *record_cms;

static struct record_cm *record_cm_of(int number)
{
	struct record_cm *each = record_cms;
	while (each && each->number != number)
		each = each->next;
	return each;
}
static void record_channel_path(char *path, size_t size, int number) { snprintf(path, size, "%s/events.%d", record_folder, number); }

/* Tell an id of an event; the lock is held. */
static void record_tell(int id, int type, int peer, uint32_t qp, const struct rdma_conn_param *conn, uintptr_t pc)
{
	char path[4096];
	struct record_told told;
	memset(&told, 0, sizeof told);
	told.type = type, told.id = id, told.peer = peer, told.qp = qp;
	if (conn) {
		told.conn = *conn, told.size = conn->private_data ? conn->private_data_len : 0;
		memcpy(told.data, conn->private_data, told.size);
	}
	int channel = record_shared->id[id].channel;
	record_channel_path(path, sizeof path, channel);
	record_line(">"), record_say(" c%d 0", channel), record_where(pc);
	int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (file >= 0)
		record_write(file, (const char *)&told, sizeof told), syscall(SYS_close, file);
	record_line("+"), record_say(" c%d %d", channel, (int)sizeof told), record_where(pc);
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	char path[4096];
	record_need("rdma_create_event_channel");
	struct record_events *made = calloc(1, sizeof *made);
	made->number = (int)++record_shared->channels;
	record_channel_path(path, sizeof path, made->number);
	made->channel.fd = mkfifo(path, 0600) ? -1 : open(path, O_RDWR | O_CLOEXEC);
	if (made->channel.fd < 0)
		record_fail("cannot make an event channel, %s: %s", path, strerror(errno));
	record_exit();
	return &made->channel;
}
void rdma_destroy_event_channel(struct rdma_event_channel *channel) { close(channel->fd), free(channel); }

static struct record_cm *record_new_id(struct rdma_event_channel *channel, void *context, enum rdma_port_space space)
{
	record_need("rdma_create_id");
	struct record_cm *made = calloc(1, sizeof *made);
	made->number = (int)++record_shared->ids;
	if (made->number >= RECORD_IDS)
		record_fail("limit: more than %d identifiers of connections", RECORD_IDS);
	record_shared->id[made->number].pid = record_me.pid;
	record_exit();
	made->is_sync = channel == NULL;
	made->id.channel = channel ? channel : rdma_create_event_channel();
	made->id.context = context, made->id.ps = space, made->id.port_num = 1, made->id.qp_type = IBV_QPT_RC;
	record_shared->id[made->number].channel = ((struct record_events *)made->id.channel)->number;
	made->next = record_cms, record_cms = made;
	return made;
}
static void record_has_device(struct record_cm *cm)
{
	static struct ibv_context *context;
	if (!context)
		context = ibv_open_device(&record_device);
	cm->id.verbs = context;
	if (!cm->id.pd)
		cm->id.pd = ibv_alloc_pd(context);
}
int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context, enum rdma_port_space space)
{
	if (space != RDMA_PS_TCP && space != RDMA_PS_IB)
		record_fail("rdma_create_id: only connections (RDMA_PS_TCP, RDMA_PS_IB) are answered");
	*id = &record_new_id(channel, context, space)->id;
	return 0;
}
int rdma_destroy_id(struct rdma_cm_id *id) { (void)id; return 0; } /* an event may be under way */

static struct rdma_cm_event *record_next_event(struct rdma_event_channel *channel, uintptr_t pc)
{
	RECORD_NEXT(read); /* a point at which a thread may be cancelled */
	struct record_cm_event *made = calloc(1, sizeof *made);
	record_settle();
	if (next(channel->fd, &made->told, sizeof made->told) != (ssize_t)sizeof made->told) {
		free(made);
		return NULL;
	}
	record_need("rdma_get_cm_event");
	record_line("<"), record_say(" c%d %d", ((struct record_events *)channel)->number, (int)sizeof made->told), record_where(pc);
	record_exit();
	struct record_cm *cm = record_cm_of(made->told.id);
	struct rdma_cm_event *event = &made->event;
	event->event = (enum rdma_cm_event_type)made->told.type, event->id = &cm->id, event->param.conn = made->told.conn;
	event->param.conn.private_data = made->told.size ? made->told.data : NULL;
	event->param.conn.private_data_len = (uint8_t)made->told.size, event->param.conn.qp_num = made->told.qp;
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		struct record_cm *child = record_new_id(cm->is_sync ? NULL : channel, cm->id.context, cm->id.ps);
		record_has_device(child);
		child->asked = made->told, event->id = &child->id, event->listen_id = &cm->id;
	} else if (event->event == RDMA_CM_EVENT_ESTABLISHED && cm->id.qp)
		cm->id.qp->state = IBV_QPS_RTS;
	return event;
}
int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	*event = record_next_event(channel, RECORD_PC);
	return *event ? 0 : -1;
}
int rdma_ack_cm_event(struct rdma_cm_event *event) { free(event); return 0; }

/* An id without a channel waits for the event of each call itself. */
static int record_done(struct record_cm *cm, int type, uintptr_t pc)
{
	if (!cm->is_sync)
		return 0;
	struct rdma_cm_event *event = record_next_event(cm->id.channel, pc);
	int found = event ? (int)event->event : -1;
	free(event);
	if (found != type)
		errno = ECONNREFUSED;
	return found == type ? 0 : -1;
}
static int record_tell_self(struct rdma_cm_id *id, int type, uintptr_t pc)
{
	struct record_cm *cm = (struct record_cm *)id;
	record_need("a call of librdmacm");
	record_tell(cm->number, type, 0, 0, NULL, pc);
	record_exit();
	return record_done(cm, type, pc);
}
static uint16_t record_port(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 ? ((const struct sockaddr_in6 *)(const void *)address)->sin6_port : ((const struct sockaddr_in *)(const void *)address)->sin_port;
}
static void record_keep_address(struct record_cm *cm, struct sockaddr *own, struct sockaddr *other)
{
#ifdef RDMA_ROBUST_RDMA_RDMA_CMA_H
	(void)cm, (void)own, (void)other;
#else
	if (own)
		memcpy(&cm->id.route.addr.src_storage, own, own->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
	if (other)
		memcpy(&cm->id.route.addr.dst_storage, other, other->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
#endif
}
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
	struct record_cm *cm = (struct record_cm *)id;
	cm->port = record_port(address);
	if (!cm->port)
		cm->port = htons((uint16_t)(20000 + cm->number));
	record_keep_address(cm, address, NULL);
	return 0;
}
int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *own, struct sockaddr *there, int time)
{
	struct record_cm *cm = (struct record_cm *)id;
	(void)time;
	cm->port = record_port(there);
	record_keep_address(cm, own, there);
	record_has_device(cm);
	return record_tell_self(id, RDMA_CM_EVENT_ADDR_RESOLVED, RECORD_PC);
}
int rdma_resolve_route(struct rdma_cm_id *id, int time)
{
	(void)time;
	return record_tell_self(id, RDMA_CM_EVENT_ROUTE_RESOLVED, RECORD_PC);
}
int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	(void)backlog;
	struct record_cm *cm = (struct record_cm *)id;
	record_has_device(cm);
	record_need("rdma_listen");
	record_shared->id[cm->number].port = cm->port;
	record_exit();
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	uintptr_t pc = RECORD_PC;
	if (pd)
		id->pd = pd;
	if (!attr->send_cq) {
		id->send_cq_channel = ibv_create_comp_channel(id->verbs);
		attr->send_cq = ibv_create_cq(id->verbs, (int)attr->cap.max_send_wr, id, id->send_cq_channel, 0);
	}
	if (!attr->recv_cq) {
		id->recv_cq_channel = ibv_create_comp_channel(id->verbs);
		attr->recv_cq = ibv_create_cq(id->verbs, (int)attr->cap.max_recv_wr, id, id->recv_cq_channel, 0);
	}
	id->send_cq = attr->send_cq, id->recv_cq = attr->recv_cq, id->srq = attr->srq;
	id->qp = record_create_qp(id->pd, attr, pc);
	return 0;
}
void rdma_destroy_qp(struct rdma_cm_id *id) { id->qp = NULL; }

static int record_listener(uint16_t port)
{
	for (unsigned i = 1; i <= record_shared->ids; i++)
		if (record_shared->id[i].port == port)
			return (int)i;
	return 0;
}
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	uintptr_t pc = RECORD_PC;
	struct record_cm *cm = (struct record_cm *)id;
	int listener = record_listener(cm->port);
	for (unsigned tries = 0; !listener && tries < RECORD_WAIT_S * 1000; tries++) /* processes begin at once */
		record_settle(), record_pause(1000000), listener = record_listener(cm->port);
	record_need("rdma_connect");
	if (listener)
		record_tell(listener, RDMA_CM_EVENT_CONNECT_REQUEST, cm->number, id->qp ? id->qp->qp_num : param ? param->qp_num : 0, param, pc);
	else
		record_tell(cm->number, RDMA_CM_EVENT_REJECTED, 0, 0, NULL, pc);
	record_exit();
	return record_done(cm, RDMA_CM_EVENT_ESTABLISHED, pc);
}
static void record_connect_pair(uint32_t one, uint32_t other, const struct rdma_conn_param *param, uintptr_t pc)
{
	record_qp_of(one)->peer = other;
	record_line("K"), record_say(" %u %u %d", one, other, param ? param->rnr_retry_count & 7 : 7), record_where(pc);
}
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	uintptr_t pc = RECORD_PC;
	struct record_cm *cm = (struct record_cm *)id;
	uint32_t own = id->qp ? id->qp->qp_num : param ? param->qp_num : 0;
	record_need("rdma_accept");
	if (!record_qp_of(own) || !record_qp_of(cm->asked.qp))
		record_fail("rdma_accept: a connection without a queue pair at each end is not answered: rdma_create_qp comes first");
	record_connect_pair(own, cm->asked.qp, param, pc);
	record_connect_pair(cm->asked.qp, own, &cm->asked.conn, pc);
	if (id->qp)
		id->qp->state = IBV_QPS_RTS;
	record_shared->id[cm->number].peer = cm->asked.peer, record_shared->id[cm->asked.peer].peer = cm->number;
	record_tell(cm->asked.peer, RDMA_CM_EVENT_ESTABLISHED, cm->number, own, param, pc);
	record_tell(cm->number, RDMA_CM_EVENT_ESTABLISHED, cm->asked.peer, cm->asked.qp, NULL, pc);
	record_exit();
	return record_done(cm, RDMA_CM_EVENT_ESTABLISHED, pc);
}
int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t size)
{
	struct rdma_conn_param param;
	memset(&param, 0, sizeof param);
	param.private_data = data, param.private_data_len = size;
	record_need("rdma_reject");
	record_tell(((struct record_cm *)id)->asked.peer, RDMA_CM_EVENT_REJECTED, 0, 0, &param, RECORD_PC);
	record_exit();
	return 0;
}
int rdma_disconnect(struct rdma_cm_id *id)
{
	uintptr_t pc = RECORD_PC;
	int own = ((struct record_cm *)id)->number;
	record_need("rdma_disconnect");
	int peer = record_shared->id[own].peer;
	if (peer) {
		record_shared->id[own].peer = record_shared->id[peer].peer = 0;
		record_tell(peer, RDMA_CM_EVENT_DISCONNECTED, 0, 0, NULL, pc);
		record_tell(own, RDMA_CM_EVENT_DISCONNECTED, 0, 0, NULL, pc);
	}
	if (id->qp)
		id->qp->state = IBV_QPS_ERR, record_flush_pair(record_qp_of(id->qp->qp_num));
	record_exit();
	return 0;
}
int rdma_establish(struct rdma_cm_id *id) { (void)id; return 0; }
int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	struct record_cm *cm = (struct record_cm *)id;
	cm->is_sync = channel == NULL;
	id->channel = channel ? channel : rdma_create_event_channel();
	record_shared->id[cm->number].channel = ((struct record_events *)id->channel)->number;
	return 0;
}
int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t size) { (void)id, (void)level, (void)name, (void)value, (void)size; return 0; }
#define RECORD_NAMED(name) case RDMA_CM_EVENT_##name: return "RDMA_CM_EVENT_" #name;
const char *rdma_event_str(enum rdma_cm_event_type type)
{
	switch (type) {
	RECORD_NAMED(ADDR_RESOLVED) RECORD_NAMED(ROUTE_RESOLVED) RECORD_NAMED(CONNECT_REQUEST) RECORD_NAMED(ESTABLISHED) RECORD_NAMED(DISCONNECTED) RECORD_NAMED(REJECTED)
	default: return "an event";
	}
}

/* Addresses, and identifiers that have all they need */
int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints, struct rdma_addrinfo **found)
{
	struct addrinfo wanted, *info = NULL;
	int is_passive = hints && (hints->ai_flags & RAI_PASSIVE);
	memset(&wanted, 0, sizeof wanted);
	wanted.ai_flags = is_passive ? AI_PASSIVE : 0, wanted.ai_socktype = SOCK_STREAM;
	int failed = getaddrinfo(node, service, &wanted, &info);
	if (failed)
		return failed;
	struct rdma_addrinfo *made = calloc(1, sizeof *made);
	struct sockaddr *address = calloc(1, sizeof(struct sockaddr_storage));
	memcpy(address, info->ai_addr, info->ai_addrlen);
	made->ai_flags = is_passive ? RAI_PASSIVE : 0, made->ai_family = info->ai_family, made->ai_qp_type = IBV_QPT_RC, made->ai_port_space = RDMA_PS_TCP;
	if (is_passive)
		made->ai_src_addr = address, made->ai_src_len = info->ai_addrlen;
	else
		made->ai_dst_addr = address, made->ai_dst_len = info->ai_addrlen;
	freeaddrinfo(info);
	*found = made;
	return 0;
}
void rdma_freeaddrinfo(struct rdma_addrinfo *found) { free(found->ai_src_addr), free(found->ai_dst_addr), free(found); }
int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *found, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct record_cm *cm = record_new_id(NULL, NULL, RDMA_PS_TCP);
	*id = &cm->id;
	cm->id.pd = pd;
	if (attr)
		cm->has_attr = 1, cm->attr = *attr;
	if (found->ai_flags & RAI_PASSIVE)
		return rdma_bind_addr(*id, found->ai_src_addr);
	int failed = rdma_resolve_addr(*id, NULL, found->ai_dst_addr, 0) || rdma_resolve_route(*id, 0);
	return failed || !attr ? -failed : rdma_create_qp(*id, pd, attr);
}
void rdma_destroy_ep(struct rdma_cm_id *id) { (void)id; }
int rdma_get_request(struct rdma_cm_id *listener, struct rdma_cm_id **id)
{
	struct record_cm *cm = (struct record_cm *)listener;
	struct rdma_cm_event *event = record_next_event(listener->channel, RECORD_PC);
	if (!event || event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return -1;
	*id = event->id;
	free(event);
	if (!cm->has_attr)
		return 0;
	struct ibv_qp_init_attr attr = cm->attr;
	return rdma_create_qp(*id, cm->id.pd, &attr);
}
static uint16_t record_own_port(struct rdma_cm_id *id) { return ((struct record_cm *)id)->port; }
RECORD_REFUSED(rdma_join_multicast) RECORD_REFUSED(rdma_leave_multicast) RECORD_REFUSED(rdma_join_multicast_ex) RECORD_REFUSED(rdma_init_qp_attr)
RECORD_REFUSED(rdma_create_qp_ex) RECORD_REFUSED(rdma_create_srq) RECORD_REFUSED(rdma_create_srq_ex) RECORD_REFUSED(rdma_notify) RECORD_REFUSED(rdma_get_devices) RECORD_REFUSED(rdma_free_devices)
#ifdef RDMA_ROBUST_RDMA_RDMA_CMA_H
uint16_t rdma_get_src_port(struct rdma_cm_id *id) { return record_own_port(id); }
uint16_t rdma_get_dst_port(struct rdma_cm_id *id) { return record_own_port(id); }
#else
__be16 rdma_get_src_port(struct rdma_cm_id *id) { return record_own_port(id); }
__be16 rdma_get_dst_port(struct rdma_cm_id *id) { return record_own_port(id); }
#endif
/* Sockets of librdmacm: programs link them without calling them */
RECORD_REFUSED(rsocket) RECORD_REFUSED(rbind) RECORD_REFUSED(rlisten) RECORD_REFUSED(raccept) RECORD_REFUSED(rconnect) RECORD_REFUSED(rshutdown) RECORD_REFUSED(rclose)
RECORD_REFUSED(rrecv) RECORD_REFUSED(rsend) RECORD_REFUSED(rread) RECORD_REFUSED(rwrite) RECORD_REFUSED(rpoll) RECORD_REFUSED(rsetsockopt) RECORD_REFUSED(rgetsockopt) RECORD_REFUSED(rfcntl)
