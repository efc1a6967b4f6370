/* Shared by the files that watch locks: lock_table.c (which lock has which id), locks.c (what a thread holds), lock_methods.c (Mutex and
 * Monitor). */
#ifndef PUMA_TUNER_LOCKS_H
#define PUMA_TUNER_LOCKS_H

#include "slot.h"

#define SET_BITS 64

/* A lock that has an id, one less than which is its place here and in the ledger. */
struct lock {
    VALUE object;         /* 0: it is gone, and the next one taken at the same place may go on under its id */
    bool kept;            /* by us: it has no finalizer */
    uint64_t number;      /* of the registration, for a finalizer to know whether it is still meant */
    uint64_t users_count; /* threads that have it or try to get it */
    uint64_t threads[SLOTS_MAX / SET_BITS]; /* slots that have had it */
};

static inline bool lock_is_marked(const struct slot *slot, const struct lock_hold *hold)
{
    return hold->marker && hold->serial == slot->serial;
}

/* Contract of all but pt_lock_id: GVL held, ordinary Ruby code. */

/* lock_table.c */
extern struct lock pt_locks[LOCKS_MAX];
uint32_t pt_lock_id(VALUE object);
void pt_lock_enroll(VALUE object, enum lock_kind kind, uint64_t size);
void pt_lock_table_prepare(VALUE module);
void pt_lock_table_start(void);
void pt_lock_table_mark(void);

/* locks.c */
bool pt_lock_tried(VALUE lock, enum lock_kind kind);
void pt_lock_got(VALUE lock);
void pt_lock_given_back(VALUE lock, bool held);
bool pt_lock_sleeps(VALUE lock);
void pt_lock_wakes(VALUE lock);
void pt_lock_holds_start(void);
void pt_lock_holds_mark(void);

#endif
