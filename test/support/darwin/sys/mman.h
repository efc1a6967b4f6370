/* This system's, without what Darwin lacks. */
#include_next <sys/mman.h>
#ifndef DARWIN_MMAN_H
#define DARWIN_MMAN_H
#undef MAP_POPULATE
#pragma GCC poison MAP_POPULATE mremap memfd_create
#endif
