/* What differs between systems: clocks, the CPU clock of another thread, room for the ledger's file, and where a thread keeps its own
 * variable. Each system has all of it in a header of its own, with these names:
 *
 *   system_ns          a clock of the system's, in nanoseconds
 *   HOOK_CLOCK         the one that hooks read where no TSC is to be trusted
 *   thread_cpu_ns      the calling thread's CPU clock: a system call, at the ends of a request and once a second, never in a hook
 *   cpu_ns_of          another thread's CPU clock, by the id that Thread#native_thread_id tells; 0 when the thread has ended
 *   reserve_space      whether there is memory, or disk, behind a range of a file in which nothing was written yet; errno says why not
 *   QUICK_THREAD_LOCAL of a variable of each thread that hooks read
 *   TSC_READABLE       where the kernel tells whether the TSC keeps time
 *
 * platform_darwin.h is compiled in the tests, against stand-ins for Darwin's headers, and has not run. */
#ifndef PUMA_TUNER_PLATFORM_H
#define PUMA_TUNER_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>

#if defined(HAVE_CLOCK_GETTIME_NSEC_NP) && defined(HAVE_MACH_MACH_H)
#include "platform_darwin.h"
#else
#include "platform_linux.h"
#endif

#endif
