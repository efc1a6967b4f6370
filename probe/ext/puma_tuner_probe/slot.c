/* The pool of slots, and which thread has which. */
#include "slot.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__thread struct slot *pt_own_slot QUICK_THREAD_LOCAL;
struct slot *pt_slots;
size_t pt_slots_used_count;
uint64_t pt_unobserved_threads_count;

static rb_internal_thread_specific_key_t key;
static bool key_made;
static char refusal[200];

/* Ruby 3.3 and 3.4 give out one key more than a thread has room for. */
static VALUE make_key(VALUE unused)
{
    key = rb_internal_thread_specific_key_create();
    if (key >= RB_INTERNAL_THREAD_SPECIFIC_KEY_MAX) {
        rb_raise(rb_eThreadError, "other extensions have taken all %d keys for data of threads", RB_INTERNAL_THREAD_SPECIFIC_KEY_MAX);
    }
    return Qnil;
}

/* A thread that has not run yet may never do so, and nobody else keep it: it is asked about later (pt_threads_sweep).
 * Contract: the collector marks, which pins what it finds here. */
static void mark(void *unused)
{
    for (size_t i = 0; i < pt_slots_used_count; i++) {
        if (pt_slots[i].in_use && pt_slots[i].state == UNKNOWN) rb_gc_mark(pt_slots[i].thread);
    }
}

static const rb_data_type_t marker_type = {.wrap_struct_name = "puma_tuner/slots", .function = {.dmark = mark}};

/* Keeps the words of the exception that has just been rescued. */
static void note_refusal(void)
{
    int state = 0;
    VALUE error = rb_errinfo(), words = rb_protect(rb_obj_as_string, error, &state);

    if (state) words = rb_class_name(rb_obj_class(error));
    snprintf(refusal, sizeof(refusal), "%.*s", (int)RSTRING_LEN(words), RSTRING_PTR(words));
    rb_set_errinfo(Qnil);
    RB_GC_GUARD(words);
}

/* Ruby refuses the process's first key while there are several Ractors, and any key where others have taken all of them.
 * Contract: ordinary Ruby code, until it has returned true. False, and no slots are there, when Ruby refuses
 * (pt_slots_refusal), or there is no memory. */
bool pt_slots_prepare(void)
{
    int state = 0;

    if (!key_made) rb_protect(make_key, Qnil, &state);
    if (state) {
        note_refusal();
        return false;
    }
    if (!key_made) rb_gc_register_mark_object(TypedData_Wrap_Struct(rb_cObject, &marker_type, &pt_slots));
    key_made = true;
    refusal[0] = 0;
    pt_slots = calloc(SLOTS_MAX, sizeof(struct slot)); /* for the life of the process; pages are touched as threads come */
    return pt_slots != NULL;
}

/* How Ruby refused the key when it was last asked for it; empty when it did not. */
const char *pt_slots_refusal(void) { return refusal; }

/* Frees all slots, as after a fork, which leaves the calling thread alone. Of those that were never in use no page is
 * touched, here or anywhere: a slot has more than a page. */
void pt_slots_forget(void)
{
    for (size_t i = 0; i < pt_slots_used_count; i++) pt_slots[i].in_use = false;
    pt_slots_used_count = 0;
}

/* NULL: it has none. Contract: from any hook, of any thread. */
struct slot *pt_slot_of(VALUE thread)
{
    return rb_internal_thread_specific_get(thread, key);
}

/* A thread without a slot: there are too many, or it is another Ractor's. Contract: any thread. */
void pt_thread_is_unobserved(void) { __atomic_add_fetch(&pt_unobserved_threads_count, 1, __ATOMIC_RELAXED); }

/* STARTED: parent thread, GVL held. The slot comes from the pool, so nothing is allocated here either. */
struct slot *pt_slot_adopt(VALUE thread)
{
    for (size_t i = 0; i < SLOTS_MAX; i++) {
        struct slot *slot = &pt_slots[i];
        if (!slot->in_use) {
            uint32_t serial = slot->serial; /* goes on, so that a hold of the slot's last thread is not taken for this one's */
            memset(slot, 0, offsetof(struct slot, steps));
            slot->serial = serial + 1;
            slot->in_use = true;
            slot->thread = thread;
            if (i >= pt_slots_used_count) pt_slots_used_count = i + 1;
            rb_internal_thread_specific_set(thread, key, slot);
            return slot;
        }
    }
    pt_thread_is_unobserved();
    return NULL;
}

/* EXITED: own thread; or ordinary Ruby code, of a thread that never runs. Its slot may serve another thread from here on. */
void pt_slot_dismiss(VALUE thread, struct slot *slot)
{
    rb_internal_thread_specific_set(thread, key, NULL);
    if (pt_own_slot == slot) pt_own_slot = NULL;
    slot->thread = Qfalse;
    __atomic_store_n(&slot->in_use, false, __ATOMIC_RELEASE);
}
