/* See platform.h. */
#include <errno.h>
#include <mach/mach.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define HOOK_CLOCK CLOCK_UPTIME_RAW /* mach_absolute_time in nanoseconds, read without a system call */
#define QUICK_THREAD_LOCAL /* Mach-O has one model */

static inline uint64_t system_ns(clockid_t clock) { return clock_gettime_nsec_np(clock); }

static inline uint64_t thread_cpu_ns(void) { return clock_gettime_nsec_np(CLOCK_THREAD_CPUTIME_ID); }

static inline uint64_t ns_of_time_value(time_value_t value)
{
    return (uint64_t)value.seconds * 1000000000u + (uint64_t)value.microseconds * 1000u;
}

/* Ruby has the id of pthread_threadid_np, by which Mach hands out no thread: all of this process are asked for theirs. */
static inline uint64_t cpu_ns_of(int64_t native_thread_id)
{
    thread_act_array_t threads;
    mach_msg_type_number_t count;
    uint64_t cpu_ns = 0;

    if (native_thread_id <= 0 || task_threads(mach_task_self(), &threads, &count) != KERN_SUCCESS) return 0;
    for (mach_msg_type_number_t i = 0; i < count; i++) {
        thread_identifier_info_data_t identity;
        thread_basic_info_data_t basic;
        mach_msg_type_number_t identity_count = THREAD_IDENTIFIER_INFO_COUNT, basic_count = THREAD_BASIC_INFO_COUNT;

        if (!cpu_ns &&
            thread_info(threads[i], THREAD_IDENTIFIER_INFO, (thread_info_t)&identity, &identity_count) == KERN_SUCCESS &&
            identity.thread_id == (uint64_t)native_thread_id &&
            thread_info(threads[i], THREAD_BASIC_INFO, (thread_info_t)&basic, &basic_count) == KERN_SUCCESS) {
            cpu_ns = ns_of_time_value(basic.user_time) + ns_of_time_value(basic.system_time);
        }
        mach_port_deallocate(mach_task_self(), threads[i]);
    }
    vm_deallocate(mach_task_self(), (vm_address_t)threads, count * sizeof(*threads));
    return cpu_ns;
}

/* There is no posix_fallocate, and F_PREALLOCATE reserves at a file's end alone: zeros are written, in whose place the ledger comes. */
static inline bool reserve_space(int file, uint64_t offset, uint64_t bytes)
{
    static const char zeros[65536];

    while (bytes) {
        ssize_t written = pwrite(file, zeros, bytes < sizeof(zeros) ? bytes : sizeof(zeros), (off_t)offset);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            if (!written) errno = ENOSPC;
            return false;
        }
        offset += (uint64_t)written;
        bytes -= (uint64_t)written;
    }
    return true;
}
