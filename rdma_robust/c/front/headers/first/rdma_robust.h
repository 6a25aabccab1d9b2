/* What the C of an RDMA program does not say, for rdma-robust. To a compiler all of this is nothing.
 *
 * RR_PROCESS(A) void f(void)      process A runs f; each process has its own globals, heap and queue pairs
 * RR_INSTEAD(g) T h(...)          every call of g calls h; h may name fewer parameters
 * RR_SETUP T f(...)               set-up: the body of f is not looked at, its result is unknown
 * RR_CONNECT(qp, "name");         the queue pair is one end of connection "name"; set-up ends here
 * RR_QP(lvalue, send_cq, recv_cq); a queue pair, where the code that makes it is not evaluated
 * RR_CQ(lvalue);                  a completion queue, likewise
 * RR_EXPORT("key", value);        what set-up sends to the other side, mostly an address
 * RR_IMPORT(lvalue, "key");       what set-up receives from the other side
 * RR_PROCESSES(n);                how many processes run one program, outside of functions
 * RR_ANY(f, v);                   local v of function f may have any value, outside of functions
 * RR_INPUT(lvalue, lo, hi);       any value from lo to hi
 * RR_IGNORE(lvalue);              this object is not modelled
 * RR_ASSUME(c); RR_ASSERT(c);     runs where c fails are set aside; c is claimed
 * RR_AWAIT(word, ==, v);          wait until the comparison holds: one read of the word, when it does
 * RR_ASSUME_WORD(word, ==, v);    the same; runs where it never holds are set aside
 * RR_VALUES(lo, hi);              words keep to a range: a run that leaves it ends there
 * RR_START();                     set-up ends here
 * RR_HARDWARE("cpu tso");         the hardware that is asked about, outside of functions or in one
 * RR_EXPECT("robust");            an `expect` line, outside of functions or in one
 */
#ifndef RDMA_ROBUST_H
#define RDMA_ROBUST_H
#ifdef __RDMA_ROBUST__
void __rr_export(const char *, unsigned long);
unsigned long __rr_import(const char *);
void __rr_start(void);
void __rr_assume(int);
void __rr_assert(int);
void __rr_await(const volatile void *, unsigned long, const char *, long, int);
void __rr_ignore(const volatile void *);
void __rr_values(long, long);
long __rr_input(long, long);
void __rr_connect(void *, const char *);
void __rr_qp(void *, void *, void *);
void *__rr_cq(void);
#define __RR_JOINED(a, b) a##b
#define __RR_NAME(a, b) __RR_JOINED(a, b)
#define __RR_NOTE(text) extern int __RR_NAME(__rr_note_, __COUNTER__) __attribute__((annotate(text)))
#define RR_PROCESS(name) __attribute__((annotate("rr_process:" #name)))
#define RR_INSTEAD(name) __attribute__((annotate("rr_instead:" #name)))
#define RR_SETUP __attribute__((annotate("rr_setup")))
#define RR_CONNECT(qp, name) __rr_connect((void *)(qp), name)
#define RR_QP(qp, send_cq, recv_cq) __rr_qp((void *)&(qp), (void *)(send_cq), (void *)(recv_cq))
#define RR_CQ(cq) ((cq) = (__typeof__(cq))__rr_cq())
#define RR_EXPORT(key, value) __rr_export(key, (unsigned long)(value))
#define RR_IMPORT(lvalue, key) ((lvalue) = (__typeof__(lvalue))__rr_import(key))
#define RR_PROCESSES(n) __RR_NOTE("rr_processes:" #n)
#define RR_ANY(function, variable) __RR_NOTE("rr_any:" #function ":" #variable)
#define RR_INPUT(lvalue, lo, hi) ((lvalue) = (__typeof__(lvalue))__rr_input(lo, hi))
#define RR_IGNORE(lvalue) __rr_ignore(&(lvalue))
#define RR_ASSUME(c) __rr_assume(!!(c))
#define RR_ASSERT(c) __rr_assert(!!(c))
#define RR_AWAIT(word, op, v) __rr_await(&(word), sizeof(word), #op, (long)(v), 0)
#define RR_ASSUME_WORD(word, op, v) __rr_await(&(word), sizeof(word), #op, (long)(v), 1)
#define RR_VALUES(lo, hi) __rr_values(lo, hi)
#define RR_START() __rr_start()
#define RR_HARDWARE(text) __RR_NOTE("rr_hardware:" text)
#define RR_EXPECT(text) __RR_NOTE("rr_expect:" text)
#else
#define __RR_NOTHING ((void)0)
#define __RR_NO_NOTE extern int __rr_no_note
#define RR_PROCESS(name)
#define RR_INSTEAD(name)
#define RR_SETUP
#define RR_CONNECT(qp, name) __RR_NOTHING
#define RR_QP(qp, send_cq, recv_cq) __RR_NOTHING
#define RR_CQ(cq) __RR_NOTHING
#define RR_EXPORT(key, value) __RR_NOTHING
#define RR_IMPORT(lvalue, key) __RR_NOTHING
#define RR_PROCESSES(n) __RR_NO_NOTE
#define RR_ANY(function, variable) __RR_NO_NOTE
#define RR_INPUT(lvalue, lo, hi) __RR_NOTHING
#define RR_IGNORE(lvalue) __RR_NOTHING
#define RR_ASSUME(c) __RR_NOTHING
#define RR_ASSERT(c) __RR_NOTHING
#define RR_AWAIT(word, op, v) do { } while (!(*(const volatile __typeof__(word) *)&(word) op (v)))
#define RR_ASSUME_WORD(word, op, v) RR_AWAIT(word, op, v)
#define RR_VALUES(lo, hi) __RR_NOTHING
#define RR_START() __RR_NOTHING
#define RR_HARDWARE(text) __RR_NO_NOTE
#define RR_EXPECT(text) __RR_NO_NOTE
#endif
#endif
