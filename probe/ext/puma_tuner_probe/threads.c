/* Each thread's own entry in the ledger: what it is called, and what it did beside requests and in them. */
#include "slot.h"
#include <string.h>

/* Slots forget their entries, which are those of the ledger before. */
void pt_threads_forget_entries(void)
{
    for (size_t i = 0; i < pt_slots_used_count; i++) {
        struct slot *slot = &pt_slots[i];
        if (!slot->in_use) continue;
        slot->introduced = false;
        slot->entry = ENTRY_OTHER;
        slot->pending_count = slot->blamed_count = 0;
        memset(slot->history, 0, sizeof(slot->history));
    }
}

struct question { VALUE thread; const char *method; };

/* It calls Thread's own method: a subclass may have another of that name, which does anything. */
static VALUE ask(VALUE argument)
{
    const struct question *question = (const struct question *)argument;
    VALUE method = rb_funcall(rb_cThread, rb_intern("instance_method"), 1, ID2SYM(rb_intern(question->method)));
    return rb_funcall(method, rb_intern("bind_call"), 1, question->thread);
}

/* nil where that raised, as somebody may have put another in the place of Thread's own. */
static VALUE asked_of(VALUE thread, const char *method)
{
    struct question question = {thread, method};
    int state = 0;
    VALUE answer = rb_protect(ask, (VALUE)&question, &state), error = rb_errinfo();

    if (!state) return answer;
    if (!rb_obj_is_kind_of(error, rb_eStandardError)) rb_jump_tag(state); /* the thread is killed, or the process ends */
    rb_set_errinfo(Qnil);
    return Qnil;
}

/* 0 when it has not begun yet, or does not tell. Contract: ordinary Ruby code. */
int64_t pt_native_thread_id(VALUE thread)
{
    VALUE id = asked_of(thread, "native_thread_id");
    return RB_INTEGER_TYPE_P(id) ? NUM2LL(id) : 0;
}

/* Finds the thread's name and its id for the kernel. */
static void introduce(struct slot *slot)
{
    VALUE name = asked_of(slot->thread, "name");
    int64_t id = pt_native_thread_id(slot->thread);
    enum kind kind = slot->serves_requests ? KIND_POOL_THREAD : KIND_THREAD;

    if (!id) return; /* it has not begun yet */
    slot->native_thread_id = id;
    if (RB_TYPE_P(name, T_STRING)) pt_lanes_name(slot, kind, RSTRING_PTR(name), (size_t)RSTRING_LEN(name));
    if (!RB_TYPE_P(name, T_STRING)) {
        slot->entry = pt_ledger_entry(kind, "(no name)", 9);
    } else {
        char text[NAME_BYTES];
        size_t length = 0;
        /* Background threads of a kind count together: "worker-1" and "worker-2" as "worker-#". */
        for (const char *c = RSTRING_PTR(name); c < RSTRING_END(name) && length < sizeof(text) - 1; c++) {
            bool digit = kind == KIND_THREAD && *c >= '0' && *c <= '9';
            if (digit && length && text[length - 1] == '#') continue;
            text[length++] = digit ? '#' : *c;
        }
        slot->entry = pt_ledger_entry(kind, text, length);
    }
    slot->introduced = true;
    RB_GC_GUARD(name);
}

/* Adds what a thread did since it was last settled to the thread's own entry. `cpu_ns`: its CPU clock, now. */
void pt_thread_settle(struct slot *slot, uint64_t cpu_ns)
{
    struct closed closed;
    uint64_t cycles_count = slot->cycles_count - slot->settled_cycles_count;

    if (!pt_ledger_is_open()) return;
    if (!slot->introduced) introduce(slot);
    slot->settled_cycles_count = slot->cycles_count;
    pt_close(&slot->total, &slot->settled_total, cpu_ns > slot->settled_cpu_ns ? cpu_ns - slot->settled_cpu_ns : 0, &closed);
    slot->settled_total = slot->total;
    slot->settled_cpu_ns = cpu_ns;
    closed.cycles_count = cycles_count;
    pt_ledger_add(slot->entry, &closed, false);
}

/* Its CPU clock is ahead of its sums: it computes without the GVL, in a release that is not over. */
static bool computes_now(const struct slot *slot, uint64_t cpu_ns)
{
    uint64_t ns = 0;
    for (int i = 0; i < PARTS; i++) ns += slot->total.part_ns[i] - slot->settled_total.part_ns[i];
    return cpu_ns - slot->settled_cpu_ns > ns;
}

/* Ruby tells of a thread before it makes it: of one for which there is no room (EAGAIN) it tells no end. */
static void dismiss_unmade(struct slot *slot)
{
    VALUE thread = slot->thread;

    if (asked_of(thread, "alive?") == Qfalse && slot->thread == thread) pt_slot_dismiss(thread, slot);
    RB_GC_GUARD(thread);
}

/* Begins to record lanes, when that is ordered: with the names of all threads there are. */
static void begin_lanes(void)
{
    if (!pt_lanes_ordered()) return;
    for (size_t i = 0; i < pt_slots_used_count; i++) {
        if (pt_slots[i].in_use && pt_slots[i].state != UNKNOWN) introduce(&pt_slots[i]);
    }
    pt_lanes_begin();
}

#define SWEEP_EVERY_NS 1000000000u

/* Settles the threads that serve no requests, and the process: when a second has passed since the last time, or
 * `now_ns` is SWEEP_ANYWAY (after which the next sweep is due at once). One that is due later than a second from now is so by a
 * counter that has begun anew since. */
void pt_threads_sweep(uint64_t now_ns)
{
    static uint64_t due_ns;

    if (!pt_ledger_is_open()) return;
    pt_ledger_gc_count(rb_gc_count());
    begin_lanes();
    if (now_ns < due_ns && due_ns - now_ns <= SWEEP_EVERY_NS) return;
    due_ns = now_ns == SWEEP_ANYWAY ? 0 : now_ns + SWEEP_EVERY_NS;
    pt_ledger_process(system_ns(CLOCK_PROCESS_CPUTIME_ID), pt_unobserved_threads_count);
    for (size_t i = 0; i < pt_slots_used_count; i++) {
        struct slot *slot = &pt_slots[i];
        uint64_t cpu_ns;
        if (!slot->in_use || slot->serves_requests) continue;
        if (slot->state == UNKNOWN) {
            dismiss_unmade(slot);
            continue;
        }
        if (!slot->introduced) introduce(slot);
        cpu_ns = cpu_ns_of(slot->native_thread_id);
        if (cpu_ns && !computes_now(slot, cpu_ns)) pt_thread_settle(slot, cpu_ns);
    }
}
