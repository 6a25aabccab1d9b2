// A mailbox; -DPOLL mends it.
#include <infiniband/verbs.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <functional>
#include <vector>
struct Hello { uint64_t address; uint32_t key, qp; };
template <class T> class Channel {
	ibv_qp *qp; ibv_cq *cq; ibv_mr *mr; Hello there;
public:
	Channel(ibv_context *context, int socket, std::vector<T> &memory) {
		auto *pd = ibv_alloc_pd(context);
		mr = ibv_reg_mr(pd, memory.data(), memory.size() * sizeof(T), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
		cq = ibv_create_cq(context, 8, nullptr, nullptr, 0);
		ibv_qp_init_attr init{}; init.send_cq = init.recv_cq = cq; init.qp_type = IBV_QPT_RC;
		qp = ibv_create_qp(pd, &init);
		Hello mine{(uint64_t)memory.data(), mr->rkey, qp->qp_num};
		if (write(socket, &mine, sizeof mine) != sizeof mine || read(socket, &there, sizeof there) != sizeof there) _exit(1);
		ibv_qp_attr attr{}; attr.qp_state = IBV_QPS_RTR; attr.dest_qp_num = there.qp;
		ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN);
		attr.qp_state = IBV_QPS_RTS;
		ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	}
	void put(T *from, size_t index) {
		ibv_sge sge{(uint64_t)from, sizeof(T), mr->lkey};
		ibv_send_wr wr{}, *bad; wr.sg_list = &sge; wr.num_sge = 1; wr.opcode = IBV_WR_RDMA_WRITE; wr.send_flags = IBV_SEND_SIGNALED;
		wr.wr.rdma.remote_addr = there.address + index * sizeof(T); wr.wr.rdma.rkey = there.key;
		ibv_post_send(qp, &wr, &bad);
	}
	void wait() { ibv_wc wc; while (!ibv_poll_cq(cq, 1, &wc)) ; }
};
int main() {
	int ends[2];
	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	bool sender = fork();
	std::vector<uint64_t> memory(8);
	Channel<uint64_t> channel(ibv_open_device(ibv_get_device_list(nullptr)[0]), ends[sender], memory);
	std::function<void(uint64_t, int)> send = [&](uint64_t value, int index) { memory[0] = value; channel.put(&memory[0], index); };
	if (sender) {
		send(7, 3);
#ifdef POLL
		channel.wait();
#endif
		send(2, 4);
		wait(nullptr);
	} else {
		volatile uint64_t *flag = &memory[4];
		while (*flag != 2) ;
		printf("got %lu\n", memory[3]);
	}
}
