/* This system's, without what Darwin lacks. */
#include_next <fcntl.h>
#ifndef DARWIN_FCNTL_H
#define DARWIN_FCNTL_H
#pragma GCC poison posix_fallocate posix_fallocate64 fallocate
#endif
