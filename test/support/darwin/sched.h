/* This system's, without what Darwin lacks. */
#include_next <sched.h>
#ifndef DARWIN_SCHED_H
#define DARWIN_SCHED_H
#undef CPU_SET
#undef CPU_ZERO
#pragma GCC poison sched_setaffinity sched_getaffinity CPU_SET CPU_ZERO
#endif
