/* This file knows which lock has which id. A lock gets one at its first hold that spans a release of the GVL or that somebody
 * waited for; a pool at its first connection. It is found by its address. So that this stays true, it has a finalizer: the
 * collector does not move an object that has one, and does not use its address again before the finalizer has run. (A frozen
 * object can't have one, and is kept.) */
#include "locks.h"
#include <ruby/debug.h>
#include <stdio.h>
#include <string.h>

#define PLACES 512 /* of LOCKS_MAX addresses: at most half full */
#define FRAMES_MAX 100

struct lock pt_locks[LOCKS_MAX];

static uint16_t ids[PLACES]; /* by address, the next free place after it where it is taken */
static uint32_t gone_count;
static uint64_t registrations_count;
static VALUE finalizer_class;

static uint32_t place_of(VALUE object) { return (uint32_t)(((uint64_t)object >> 3) * 0x9e3779b97f4a7c15u >> 55); }

/* 0: it has none. Contract: GVL held. */
uint32_t pt_lock_id(VALUE object)
{
    for (uint32_t at = place_of(object); ids[at]; at = (at + 1) % PLACES) {
        if (pt_locks[ids[at] - 1].object == object) return ids[at];
    }
    return 0;
}

static void index_all(void)
{
    memset(ids, 0, sizeof(ids));
    for (uint16_t id = 1; id <= LOCKS_MAX; id++) {
        uint32_t at = place_of(pt_locks[id - 1].object);
        if (!pt_locks[id - 1].object) continue;
        while (ids[at]) at = (at + 1) % PLACES;
        ids[at] = id;
    }
}

/* Tells whether a frame's file is of a library through which locks are taken, rather than of whoever takes them. */
static bool is_of_locking(const char *path, enum lock_kind kind)
{
    static const char *const libraries[] = {"/lib/puma_tuner/", "/monitor.rb", "/active_support/concurrency/", "/concurrent-ruby/",
        "/connection_pool", "/active_record/", "/sequel/"};
    size_t count = sizeof(libraries) / sizeof(*libraries) - (kind == LOCK_POOL ? 0 : 3); /* the last ones are of pools */

    if (path[0] == '<') return true; /* <internal:…>: Ruby's own */
    for (size_t i = 0; i < count; i++) {
        if (strstr(path, libraries[i])) return true;
    }
    return false;
}

/* "file.rb:12 in Class#method": the first frame of whoever takes the lock; of the library, where there is none. */
static void describe_place(enum lock_kind kind, char *place)
{
    VALUE frames[FRAMES_MAX], path = Qnil, name;
    int lines[FRAMES_MAX], count = rb_profile_frames(0, FRAMES_MAX, frames, lines), chosen = -1;
    const char *file;

    for (int i = 0; i < count; i++) {
        bool of_locking;
        path = rb_profile_frame_path(frames[i]);
        if (NIL_P(path)) continue; /* C code */
        of_locking = is_of_locking(StringValueCStr(path), kind);
        if (chosen < 0 || !of_locking) chosen = i;
        if (!of_locking) break;
    }
    if (chosen < 0) return;
    path = rb_profile_frame_path(frames[chosen]);
    name = rb_profile_frame_qualified_method_name(frames[chosen]);
    /* A nameless class is told by its address, which is another one in each process. */
    if (NIL_P(name) || strstr(StringValueCStr(name), "0x")) name = rb_profile_frame_label(frames[chosen]);
    file = strrchr(StringValueCStr(path), '/');
    snprintf(place, PLACE_BYTES, "%s:%d in %s", file ? file + 1 : StringValueCStr(path), lines[chosen], NIL_P(name) ? "?" : StringValueCStr(name));
    RB_GC_GUARD(path);
    RB_GC_GUARD(name);
}

static void describe_class(VALUE object, char *class_name)
{
    VALUE klass = rb_obj_class(object), name;

    while (NIL_P(name = rb_mod_name(klass))) klass = rb_class_superclass(klass);
    snprintf(class_name, CLASS_BYTES, "%s", StringValueCStr(name));
}

/* A new place, or that of a lock of the same kind that was taken here and is gone; 0: there is none. */
static uint32_t free_id(enum lock_kind kind, const char *class_name, const char *place)
{
    for (uint32_t i = 0; gone_count && i < pt_ledger_locks->locks_count; i++) {
        const struct ledger_lock *entry = &pt_ledger_locks->locks[i];
        if (!pt_locks[i].object && entry->kind == kind && !strcmp(entry->class_name, class_name) && !strcmp(entry->place, place)) {
            gone_count--;
            return i + 1;
        }
    }
    return pt_ledger_locks->locks_count < LOCKS_MAX ? (uint32_t)pt_ledger_locks->locks_count + 1 : 0;
}

/* A lock's finalizer: an object that is the number of its registration. A proc would keep the lock itself, as the self of its frame. */
static const rb_data_type_t finalizer_type = {.wrap_struct_name = "puma_tuner/finalizer", .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static VALUE is_gone(VALUE self, VALUE object_id)
{
    uint64_t number = (uint64_t)(uintptr_t)rb_check_typeddata(self, &finalizer_type);

    for (int i = 0; i < LOCKS_MAX; i++) {
        if (!pt_locks[i].object || pt_locks[i].number != number) continue;
        pt_locks[i].object = 0;
        gone_count++;
        index_all();
    }
    return Qnil;
}

static void add_finalizer(VALUE object, uint64_t number)
{
    rb_define_finalizer(object, TypedData_Wrap_Struct(finalizer_class, &finalizer_type, (void *)(uintptr_t)number));
}

/* Tells the threads that have it, or try, while it gets its id: what they mark is given the id. Other threads than this one stand still. */
static void tell_holders(VALUE object, uint32_t id)
{
    for (size_t i = 0; i < pt_slots_used_count; i++) {
        struct slot *slot = &pt_slots[i];
        for (uint32_t n = 0; slot->in_use && n < slot->lock_holds_count; n++) {
            struct lock_hold *hold = &slot->lock_holds[n];
            if (hold->lock != object) continue;
            hold->id = id;
            if (!hold->asleep) pt_locks[id - 1].users_count++;
            if (lock_is_marked(slot, hold)) slot->steps[hold->marker] += id;
        }
    }
}

/* Gives the lock a place in the table, if there is any. */
void pt_lock_enroll(VALUE object, enum lock_kind kind, uint64_t size)
{
    char class_name[CLASS_BYTES] = "", place[PLACE_BYTES] = "";
    struct lock *lock;
    struct ledger_lock *entry;
    uint64_t number = registrations_count + 1;
    uint32_t id = 0;

    if (pt_ledger_locks->locks_count < LOCKS_MAX || gone_count) {
        describe_class(object, class_name);
        describe_place(kind, place);
        id = free_id(kind, class_name, place);
    }
    if (!id) {
        pt_ledger_locks->unplaced_locks_count++;
        return;
    }
    if (!RB_OBJ_FROZEN(object)) add_finalizer(object, number);
    registrations_count = number;
    lock = &pt_locks[id - 1];
    lock->kept = RB_OBJ_FROZEN(object);
    lock->number = number;
    lock->users_count = 0;
    lock->object = object;
    index_all();
    entry = &pt_ledger_locks->locks[id - 1];
    entry->kind = kind;
    entry->size = size;
    if (id > pt_ledger_locks->locks_count) {
        memcpy(entry->class_name, class_name, CLASS_BYTES);
        memcpy(entry->place, place, PLACE_BYTES);
        __atomic_store_n(&pt_ledger_locks->locks_count, id, __ATOMIC_RELEASE);
    }
    tell_holders(object, id);
}

/* Called before the first start. `module`: where our classes are. */
void pt_lock_table_prepare(VALUE module)
{
    finalizer_class = rb_define_class_under(module, "LockFinalizer", rb_cObject);
    rb_gc_register_mark_object(finalizer_class);
    rb_undef_alloc_func(finalizer_class);
    rb_define_method(finalizer_class, "call", is_gone, 1);
}

/* A new ledger: no lock has an id. */
void pt_lock_table_start(void)
{
    memset(pt_locks, 0, sizeof(pt_locks));
    gone_count = 0;
    index_all();
}

/* Contract: the collector marks. */
void pt_lock_table_mark(void)
{
    for (int i = 0; i < LOCKS_MAX; i++) {
        if (pt_locks[i].kept && pt_locks[i].object) rb_gc_mark(pt_locks[i].object);
    }
}
