/* Declarations of ours, for where the system has no <assert.h>; it may be included again, with and without NDEBUG. */
#undef assert
_Noreturn void __assert_fail(const char *, const char *, unsigned int, const char *);
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))
#endif
#undef static_assert
#define static_assert _Static_assert
