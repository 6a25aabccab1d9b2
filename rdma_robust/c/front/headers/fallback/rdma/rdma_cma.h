/* Declarations of ours, for where the system has no <rdma/rdma_cma.h>. */
#ifndef RDMA_ROBUST_RDMA_RDMA_CMA_H
#define RDMA_ROBUST_RDMA_RDMA_CMA_H
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <sys/socket.h>
enum rdma_cm_event_type {
	RDMA_CM_EVENT_ADDR_RESOLVED,
	RDMA_CM_EVENT_ADDR_ERROR,
	RDMA_CM_EVENT_ROUTE_RESOLVED,
	RDMA_CM_EVENT_ROUTE_ERROR,
	RDMA_CM_EVENT_CONNECT_REQUEST,
	RDMA_CM_EVENT_CONNECT_RESPONSE,
	RDMA_CM_EVENT_CONNECT_ERROR,
	RDMA_CM_EVENT_UNREACHABLE,
	RDMA_CM_EVENT_REJECTED,
	RDMA_CM_EVENT_ESTABLISHED,
	RDMA_CM_EVENT_DISCONNECTED,
	RDMA_CM_EVENT_DEVICE_REMOVAL,
	RDMA_CM_EVENT_MULTICAST_JOIN,
	RDMA_CM_EVENT_MULTICAST_ERROR,
	RDMA_CM_EVENT_ADDR_CHANGE,
	RDMA_CM_EVENT_TIMEWAIT_EXIT
};
enum { RAI_PASSIVE = 1, RAI_NUMERICHOST = 2, RAI_NOROUTE = 4, RAI_FAMILY = 8 };
enum rdma_port_space { RDMA_PS_IPOIB = 0x0002, RDMA_PS_TCP = 0x0106, RDMA_PS_UDP = 0x0111, RDMA_PS_IB = 0x013F };
struct rdma_event_channel {
	int fd;
};
struct rdma_cm_event;
struct rdma_cm_id {
	struct ibv_context *verbs;
	struct rdma_event_channel *channel;
	void *context;
	struct ibv_qp *qp;
	enum rdma_port_space ps;
	uint8_t port_num;
	struct rdma_cm_event *event;
	struct ibv_comp_channel *send_cq_channel;
	struct ibv_cq *send_cq;
	struct ibv_comp_channel *recv_cq_channel;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	enum ibv_qp_type qp_type;
};
struct rdma_conn_param {
	const void *private_data;
	uint8_t private_data_len;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t flow_control;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t srq;
	uint32_t qp_num;
};
struct rdma_cm_event {
	struct rdma_cm_id *id;
	struct rdma_cm_id *listen_id;
	enum rdma_cm_event_type event;
	int status;
	union {
		struct rdma_conn_param conn;
	} param;
};
struct rdma_addrinfo {
	int ai_flags;
	int ai_family;
	int ai_qp_type;
	int ai_port_space;
	socklen_t ai_src_len;
	socklen_t ai_dst_len;
	struct sockaddr *ai_src_addr;
	struct sockaddr *ai_dst_addr;
	char *ai_src_canonname;
	char *ai_dst_canonname;
	size_t ai_route_len;
	void *ai_route;
	size_t ai_connect_len;
	void *ai_connect;
	struct rdma_addrinfo *ai_next;
};
int rdma_getaddrinfo(const char *, const char *, const struct rdma_addrinfo *, struct rdma_addrinfo **);
void rdma_freeaddrinfo(struct rdma_addrinfo *);
int rdma_create_ep(struct rdma_cm_id **, struct rdma_addrinfo *, struct ibv_pd *, struct ibv_qp_init_attr *);
void rdma_destroy_ep(struct rdma_cm_id *);
int rdma_get_request(struct rdma_cm_id *, struct rdma_cm_id **);
int rdma_reject(struct rdma_cm_id *, const void *, uint8_t);
int rdma_establish(struct rdma_cm_id *);
int rdma_migrate_id(struct rdma_cm_id *, struct rdma_event_channel *);
int rdma_set_option(struct rdma_cm_id *, int, int, void *, size_t);
const char *rdma_event_str(enum rdma_cm_event_type);
uint16_t rdma_get_src_port(struct rdma_cm_id *);
uint16_t rdma_get_dst_port(struct rdma_cm_id *);
struct rdma_event_channel *rdma_create_event_channel(void);
void rdma_destroy_event_channel(struct rdma_event_channel *);
int rdma_create_id(struct rdma_event_channel *, struct rdma_cm_id **, void *, enum rdma_port_space);
int rdma_destroy_id(struct rdma_cm_id *);
int rdma_bind_addr(struct rdma_cm_id *, struct sockaddr *);
int rdma_resolve_addr(struct rdma_cm_id *, struct sockaddr *, struct sockaddr *, int);
int rdma_resolve_route(struct rdma_cm_id *, int);
int rdma_create_qp(struct rdma_cm_id *, struct ibv_pd *, struct ibv_qp_init_attr *);
void rdma_destroy_qp(struct rdma_cm_id *);
int rdma_connect(struct rdma_cm_id *, struct rdma_conn_param *);
int rdma_listen(struct rdma_cm_id *, int);
int rdma_accept(struct rdma_cm_id *, struct rdma_conn_param *);
int rdma_disconnect(struct rdma_cm_id *);
int rdma_get_cm_event(struct rdma_event_channel *, struct rdma_cm_event **);
int rdma_ack_cm_event(struct rdma_cm_event *);
#endif
