/* See platform.h. */
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#define HOOK_CLOCK CLOCK_MONOTONIC
/* glibc keeps room at the start for such variables of libraries that are loaded later. musl keeps none, and refuses those
 * libraries; as it makes room in all threads when it loads one, nothing is allocated in a hook there either. */
#if defined(__GLIBC__)
#define QUICK_THREAD_LOCAL __attribute__((tls_model("initial-exec")))
#else
#define QUICK_THREAD_LOCAL
#endif
#if defined(__x86_64__)
#define TSC_READABLE
#endif

/* Through the vDSO, but for CPU clocks, which take about 400 ns. */
static inline uint64_t system_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t thread_cpu_ns(void) { return system_ns(CLOCK_THREAD_CPUTIME_ID); }

/* Linux makes the clock's id from the thread's id. */
static inline uint64_t cpu_ns_of(int64_t native_thread_id)
{
    struct timespec now;
    if (native_thread_id <= 0 || clock_gettime((clockid_t)((~(uint32_t)native_thread_id << 3) | 6), &now)) return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline bool reserve_space(int file, uint64_t offset, uint64_t bytes)
{
    do errno = posix_fallocate(file, (off_t)offset, (off_t)bytes); /* which returns its error */
    while (errno == EINTR);
    return errno == 0;
}
