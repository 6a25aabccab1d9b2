/* The functions that -fsanitize=thread calls. */
#define RECORD_PC ((uintptr_t)__builtin_return_address(0))
typedef unsigned long record_word;

/* Regions of this process, and nothing else is looked at for plain accesses. */
static struct { uintptr_t address, length; } record_own[RECORD_REGIONS];
static volatile unsigned record_owned;

static int record_is_registered(uintptr_t address)
{
	for (unsigned i = 0; i < record_owned; i++)
		if (address - record_own[i].address < record_own[i].length)
			return 1;
	return 0;
}

static uint64_t record_value(uintptr_t address, unsigned size)
{
	uint64_t value = 0;
	memcpy(&value, (void *)address, size > 8 ? 8 : size);
	return value;
}

static void record_store_line(uintptr_t address, unsigned size, char kind, uintptr_t pc)
{
	for (unsigned i = 0; i < size; i += 8) {
		unsigned part = size - i < 8 ? size - i : 8;
		record_line("W");
		record_say(" %c %lx %u %llx", kind, (record_word)(address + i), part, (unsigned long long)record_value(address + i, part));
		record_where(pc);
	}
}

/* End the access behind a hook: the value of a store is known now. Then others may go on. */
static void record_settle(void)
{
	struct record_thread *me = &record_me;
	if (!me->window)
		return;
	me->deep++;
	me->window = 0;
	if (me->store)
		record_store_line(me->store, me->store_size, me->store_kind, me->store_pc);
	me->store = 0;
	record_leave();
	me->deep--;
}

static void record_read_line(uintptr_t address, unsigned size, char kind, uintptr_t pc)
{
	struct record_thread *me = &record_me;
	for (unsigned i = 0; i < size; i += 8) {
		unsigned part = size - i < 8 ? size - i : 8;
		uint64_t value = record_value(address + i, part);
		if (kind != 'm' && size <= 8 && me->read == address && me->read_pc == pc && me->read_value == value)
			continue; /* again, with nothing in between */
		int again = size <= 8 && me->read == address && me->read_pc == pc;
		record_line(again ? "S" : "R");
		record_say(" %c %lx %u %llx", kind, (record_word)(address + i), part, (unsigned long long)value);
		record_where(pc);
		if (size <= 8)
			me->read = address, me->read_pc = pc, me->read_value = value;
	}
}

static void record_access(uintptr_t address, unsigned size, char kind, int store, uintptr_t pc)
{
	struct record_thread *me = &record_me;
	if (record_on < 0 || me->deep)
		return;
	record_settle();
	if (((kind == 'p' || kind == 'm') && !record_is_registered(address)) || !record_is_on())
		return;
	if (me->read == address && !store)
		syscall(SYS_sched_yield); /* it waits: let the others go on */
	me->deep++;
	record_take();
	if (store)
		me->store = address, me->store_size = size, me->store_kind = kind, me->store_pc = pc;
	else
		record_read_line(address, size, kind, pc);
	me->deep--;
	me->window = pc;
}

#define RECORD_PLAIN(n) \
	void __tsan_read##n(void *p) { record_access((uintptr_t)p, n, 'p', 0, RECORD_PC); } \
	void __tsan_write##n(void *p) { record_access((uintptr_t)p, n, 'p', 1, RECORD_PC); } \
	void __tsan_unaligned_read##n(void *p) { record_access((uintptr_t)p, n, 'p', 0, RECORD_PC); } \
	void __tsan_unaligned_write##n(void *p) { record_access((uintptr_t)p, n, 'p', 1, RECORD_PC); } \
	void __tsan_volatile_read##n(void *p) { record_access((uintptr_t)p, n, 'v', 0, RECORD_PC); } \
	void __tsan_volatile_write##n(void *p) { record_access((uintptr_t)p, n, 'v', 1, RECORD_PC); } \
	void __tsan_unaligned_volatile_read##n(void *p) { record_access((uintptr_t)p, n, 'v', 0, RECORD_PC); } \
	void __tsan_unaligned_volatile_write##n(void *p) { record_access((uintptr_t)p, n, 'v', 1, RECORD_PC); }
RECORD_PLAIN(1) RECORD_PLAIN(2) RECORD_PLAIN(4) RECORD_PLAIN(8) RECORD_PLAIN(16)

void __tsan_init(void) { record_is_on(); }
void __tsan_func_entry(void *call)
{
	struct record_thread *me = &record_me;
	if (me->window)
		record_settle();
	if (me->calls < 256)
		me->call[me->calls] = (uintptr_t)call;
	me->calls++;
}
void __tsan_func_exit(void)
{
	if (record_me.window)
		record_settle();
	if (record_me.calls)
		record_me.calls--;
}
void __tsan_vptr_update(void **object, void *table) { (void)object, (void)table; record_settle(); }
void __tsan_vptr_read(void **object) { (void)object; record_settle(); }
void __tsan_read_range(void *p, unsigned long n) { record_access((uintptr_t)p, (unsigned)n, 'm', 0, RECORD_PC); }
void __tsan_write_range(void *p, unsigned long n) { record_access((uintptr_t)p, (unsigned)n, 'm', 1, RECORD_PC); }

/* Atomics are made here, in one piece with their line. All of them are recorded: threads wait for each other with them. */
static int record_enter(void)
{
	record_settle();
	if (!record_is_on())
		return 0;
	record_me.deep++;
	record_take();
	return 1;
}
static void record_exit(void)
{
	record_leave();
	record_me.deep--;
}
static void record_atomic(const volatile void *p, unsigned size, uint64_t old, uint64_t new_, uintptr_t pc)
{
	record_line("A");
	record_say(" a %lx %u %llx %llx", (record_word)(uintptr_t)p, size, (unsigned long long)old, (unsigned long long)new_);
	record_where(pc);
}

static void record_failed_swap(const volatile void *p, unsigned size, uint64_t expected, uint64_t wanted, uint64_t found, uintptr_t pc)
{
	struct record_thread *me = &record_me;
	if (me->read == (uintptr_t)p && me->read_pc == pc && me->read_value == found)
		return; /* again, with nothing in between */
	record_line("X");
	record_say(" a %lx %u %llx %llx %llx", (record_word)(uintptr_t)p, size, (unsigned long long)expected, (unsigned long long)wanted, (unsigned long long)found);
	record_where(pc);
	me->read = (uintptr_t)p, me->read_pc = pc, me->read_value = found;
}

#define RECORD_CHANGE(bits, type, name, expression) \
	type __tsan_atomic##bits##_##name(volatile type *p, type v, int order) \
	{ \
		(void)order; \
		int is_on = record_enter(); \
		type old = __atomic_load_n(p, __ATOMIC_SEQ_CST), new_; \
		do \
			new_ = (type)(expression); \
		while (!__atomic_compare_exchange_n(p, &old, new_, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
		if (is_on) \
			record_atomic(p, bits / 8, old, new_, RECORD_PC), record_exit(); \
		return old; \
	}
#define RECORD_COMPARE(bits, type, name) \
	int __tsan_atomic##bits##_compare_exchange_##name(volatile type *p, type *expected, type wanted, int order, int other) \
	{ \
		(void)order, (void)other; \
		int is_on = record_enter(); \
		type before = *expected; \
		int done = __atomic_compare_exchange_n(p, expected, wanted, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
		if (is_on) { \
			if (done) \
				record_atomic(p, bits / 8, before, wanted, RECORD_PC); \
			else \
				record_failed_swap(p, bits / 8, before, wanted, *expected, RECORD_PC); \
			record_exit(); \
		} \
		return done; \
	}
#define RECORD_ATOMIC(bits, type) \
	type __tsan_atomic##bits##_load(const volatile type *p, int order) \
	{ \
		(void)order; \
		record_settle(); \
		if (record_me.read == (uintptr_t)p) \
			syscall(SYS_sched_yield); \
		int is_on = record_enter(); \
		type v = __atomic_load_n(p, __ATOMIC_SEQ_CST); \
		if (is_on) \
			record_read_line((uintptr_t)p, bits / 8, 'a', RECORD_PC), record_exit(); \
		return v; \
	} \
	void __tsan_atomic##bits##_store(volatile type *p, type v, int order) \
	{ \
		int is_on = record_enter(); \
		__atomic_store_n(p, v, __ATOMIC_SEQ_CST); \
		if (is_on) \
			record_store_line((uintptr_t)p, bits / 8, order == __ATOMIC_SEQ_CST ? 's' : 'a', RECORD_PC), record_exit(); \
	} \
	RECORD_CHANGE(bits, type, exchange, v) \
	RECORD_CHANGE(bits, type, fetch_add, old + v) \
	RECORD_CHANGE(bits, type, fetch_sub, old - v) \
	RECORD_CHANGE(bits, type, fetch_and, old & v) \
	RECORD_CHANGE(bits, type, fetch_or, old | v) \
	RECORD_CHANGE(bits, type, fetch_xor, old ^ v) \
	RECORD_CHANGE(bits, type, fetch_nand, ~(old & v)) \
	RECORD_COMPARE(bits, type, strong) \
	RECORD_COMPARE(bits, type, weak) \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type wanted, int order, int other) \
	{ \
		__tsan_atomic##bits##_compare_exchange_strong(p, &expected, wanted, order, other); \
		return expected; \
	}
RECORD_ATOMIC(8, unsigned char)
RECORD_ATOMIC(16, unsigned short)
RECORD_ATOMIC(32, unsigned int)
RECORD_ATOMIC(64, unsigned long)

void __tsan_atomic_thread_fence(int order)
{
	if (order == __ATOMIC_SEQ_CST && record_enter())
		record_line("F"), record_where(RECORD_PC), record_exit();
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int order) { (void)order; }
