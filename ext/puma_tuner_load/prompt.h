/* For threads that have to run soon after they wake, though others are busy. */
#ifndef PUMA_TUNER_PROMPT_H
#define PUMA_TUNER_PROMPT_H

#include <stdint.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* The shortest that can be asked for. */
#define SLICE_NS 100000u

/* Asks for that, for the calling thread. A thread that sleeps most of the time and asks for short time slices gets a core soon
 * after it wakes, also from a busy server (Linux 6.12 on; needs no privilege, and gives no more time than before). On older ones only
 * timers get more exact; on other systems nothing is asked for. */
static inline void be_prompt(void)
{
#if defined(HAVE_SYS_PRCTL_H) && defined(SYS_sched_setattr)
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t slice_ns, deadline_ns, period_ns;
    } attributes = {.size = sizeof(attributes), .nice = getpriority(PRIO_PROCESS, 0), .slice_ns = SLICE_NS};

    prctl(PR_SET_TIMERSLACK, 1); /* else 50 µs late, always */
    syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}

#endif
