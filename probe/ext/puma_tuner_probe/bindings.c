/* Defines what Ruby sees: PumaTuner::Probe::GvlClock, whose meaning is documented in lib/puma_tuner/probe/gvl_clock.rb. */
#include "slot.h"
#include <sys/statvfs.h>

static VALUE clock_start(VALUE self)
{
    VALUE threads = rb_funcall(rb_cThread, rb_intern("list"), 0);
    bool started = RB_TYPE_P(threads, T_ARRAY) && pt_gvl_clock_start(threads);

    if (started) pt_gc_clock_start();
    RB_GC_GUARD(threads);
    return started ? Qtrue : Qfalse;
}

static VALUE clock_refusal(VALUE self) { return *pt_slots_refusal() ? rb_utf8_str_new_cstr(pt_slots_refusal()) : Qnil; }

static VALUE clock_install(VALUE self) { return pt_gvl_clock_install() ? Qtrue : Qfalse; }

static VALUE clock_is_installed(VALUE self) { return pt_gvl_clock_is_installed() ? Qtrue : Qfalse; }

static VALUE clock_set_looks_only(VALUE self, VALUE only)
{
    pt_gvl_clock_looks_only(RTEST(only));
    return only;
}

/* Returns how much the file system of a folder holds in all. */
static VALUE clock_place_bytes(VALUE self, VALUE folder)
{
    struct statvfs facts;
    if (statvfs(StringValueCStr(folder), &facts) || facts.f_blocks == 0) return Qnil;
    return ULL2NUM((uint64_t)facts.f_blocks * facts.f_frsize);
}

static VALUE clock_open_ledger(int argc, VALUE *argv, VALUE self)
{
    VALUE path, facts, bytes_max;
    const char *why_not;

    rb_scan_args(argc, argv, "21", &path, &facts, &bytes_max);
    pt_lanes_forget();
    why_not = pt_ledger_open(StringValueCStr(path), StringValueCStr(facts), NIL_P(bytes_max) ? UINT64_MAX : NUM2ULL(bytes_max));
    if (!why_not) pt_threads_forget_entries(); /* which were of another ledger */
    if (!why_not) pt_ledger_costs(pt_cost_per_cycle_ns(), 0);
    return why_not ? rb_utf8_str_new_cstr(why_not) : Qnil;
}

static VALUE clock_cost_per_cycle_ns(VALUE self) { return ULL2NUM(pt_cost_per_cycle_ns()); }

static VALUE clock_set_cost_per_request_ns(VALUE self, VALUE ns)
{
    pt_ledger_costs(pt_cost_per_cycle_ns(), NUM2ULL(ns));
    return ns;
}

static VALUE clock_entry(VALUE self, VALUE kind, VALUE name)
{
    StringValue(name);
    if (NUM2INT(kind) <= KIND_NONE || NUM2INT(kind) > KIND_SPECIAL) rb_raise(rb_eArgError, "no kind of entry");
    return UINT2NUM(pt_ledger_entry((enum kind)NUM2INT(kind), RSTRING_PTR(name), (size_t)RSTRING_LEN(name)));
}

static VALUE clock_request_begin(int argc, VALUE *argv, VALUE self)
{
    enum origin origin = argc && RTEST(argv[0]) ? FROM_LIST : GOES_ON;
    return pt_own_slot && pt_request_begin(pt_own_slot, origin) ? Qtrue : Qfalse;
}

static VALUE clock_job_begin(VALUE self)
{
    return pt_own_slot && pt_request_begin(pt_own_slot, JOB) ? Qtrue : Qfalse;
}

static VALUE clock_request_end(VALUE self, VALUE entry, VALUE queued_ns, VALUE before_puma_ns)
{
    struct closed closed;
    if (!pt_own_slot) return Qfalse;
    return pt_request_end(pt_own_slot, NUM2UINT(entry), NIL_P(queued_ns) ? 0 : NUM2ULL(queued_ns),
        NIL_P(before_puma_ns) ? 0 : NUM2ULL(before_puma_ns), &closed) ? Qtrue : Qfalse;
}

/* Ends the request without recording it: its sums in their order, then slices, and whether it is unaccounted; and its
 * steps, as kind and nanoseconds in turn, when asked for. */
static VALUE clock_request_take(VALUE self, VALUE with_trace)
{
    struct slot *slot = pt_own_slot;
    struct closed closed;
    VALUE numbers, steps = Qnil;

    uint64_t kept[STEPS_MAX];

    if (!slot || !pt_request_end(slot, ENTRY_NONE, 0, 0, &closed)) return Qnil;
    memcpy(kept, slot->steps, closed.steps_count * sizeof(*kept));
    if (RTEST(with_trace)) {
        steps = rb_ary_new_capa(closed.steps_count * 2);
        for (uint32_t i = 0; i < closed.steps_count; i++) {
            rb_ary_push(steps, ULL2NUM(kept[i] >> STEP_NS_BITS));
            rb_ary_push(steps, ULL2NUM(kept[i] & (((uint64_t)1 << STEP_NS_BITS) - 1)));
        }
    }
    numbers = rb_ary_new_capa(SUMS + 2);
    for (int i = 0; i < SUMS; i++) rb_ary_push(numbers, ULL2NUM(closed.sums[i]));
    rb_ary_push(numbers, ULL2NUM(closed.slices_count));
    rb_ary_push(numbers, closed.unaccounted ? INT2FIX(1) : INT2FIX(0));
    return rb_assoc_new(numbers, steps);
}

static VALUE clock_discard(VALUE self)
{
    struct closed closed;
    return pt_own_slot && pt_request_end(pt_own_slot, ENTRY_NONE, 0, 0, &closed) ? Qtrue : Qfalse;
}

/* Brings this process's ledger up to date: threads that serve no requests, and the one that asks. */
static VALUE clock_sweep(VALUE self)
{
    if (pt_own_slot) pt_threads_sweep(SWEEP_ANYWAY);
    return Qnil;
}

static VALUE clock_now_ns(VALUE self) { return ULL2NUM(clock_ns()); }

static VALUE clock_woken_ns(VALUE self) { return ULL2NUM(pt_own_slot ? pt_own_slot->woken_ns : clock_ns()); }

static VALUE clock_checkout(VALUE self, VALUE begins)
{
    bool before = pt_own_slot && pt_own_slot->in_checkout;
    if (pt_own_slot) pt_own_slot->in_checkout = RTEST(begins);
    return before ? Qtrue : Qfalse;
}

static enum part part_of(VALUE number)
{
    int part = NUM2INT(number);
    if (part < PART_HELD || part >= PARTS) rb_raise(rb_eArgError, "no part of a budget");
    return (enum part)part;
}

static VALUE clock_scope(VALUE self, VALUE part)
{
    enum part before = pt_own_slot ? pt_own_slot->scope : PART_HELD;
    if (pt_own_slot) pt_own_slot->scope = part_of(part);
    return INT2FIX(before);
}

static VALUE clock_attribute(VALUE self, VALUE klass, VALUE part) 
{
    Check_Type(klass, RB_TYPE_P(klass, T_MODULE) ? T_MODULE : T_CLASS);
    return pt_attribute(klass, part_of(part)) ? Qtrue : Qfalse;
}


static VALUE clock_watch_locks(VALUE self) { return pt_locks_watch(self) ? Qtrue : Qfalse; }

static VALUE clock_pool_tried(VALUE self, VALUE pool)
{
    pt_locks_pool_tried(pool);
    return Qnil;
}

static VALUE clock_pool_got(VALUE self, VALUE pool, VALUE connections_count)
{
    pt_locks_pool_got(pool, NIL_P(connections_count) ? 0 : NUM2ULL(connections_count));
    return Qnil;
}

static VALUE clock_pool_returned(VALUE self, VALUE pool)
{
    pt_locks_pool_returned(pool);
    return Qnil;
}

/* The thread's totals, as the enum part names them, then gc, slices. Up to the last time it took the GVL. */
static VALUE clock_totals(VALUE self, VALUE thread)
{
    const struct slot *slot = pt_own_slot ? pt_slot_of(thread) : NULL; /* after a fork, only once the clock is started again */
    VALUE numbers;

    if (!slot) return Qnil;
    numbers = rb_ary_new_capa(PARTS + 2);
    for (int i = 0; i < PARTS; i++) rb_ary_push(numbers, ULL2NUM(slot->total.part_ns[i]));
    rb_ary_push(numbers, ULL2NUM(slot->total.gc_ns));
    rb_ary_push(numbers, ULL2NUM(slot->total.slices_count));
    return numbers;
}

static VALUE clock_unobserved_threads_count(VALUE self) { return ULL2NUM(pt_unobserved_threads_count); }

/* memcpy, as the text may begin anywhere. */
static VALUE clock_add(VALUE self, VALUE sums, VALUE numbers)
{
    char *to;
    const char *from;
    long bytes;

    StringValue(sums);
    StringValue(numbers);
    rb_str_modify(sums);
    to = RSTRING_PTR(sums);
    from = RSTRING_PTR(numbers);
    bytes = RSTRING_LEN(sums);
    if (bytes != RSTRING_LEN(numbers) || bytes % (long)sizeof(uint64_t)) rb_raise(rb_eArgError, "not as many numbers");
    for (long i = 0; i < bytes; i += (long)sizeof(uint64_t)) {
        uint64_t sum, number;
        memcpy(&sum, to + i, sizeof(sum));
        memcpy(&number, from + i, sizeof(number));
        sum += number;
        memcpy(to + i, &sum, sizeof(sum));
    }
    RB_GC_GUARD(numbers);
    return sums;
}

static VALUE clock_bucket_of(VALUE self, VALUE ns) { return UINT2NUM(bucket_of(NUM2ULL(ns))); }

/* The rows of parts.h, as they stand there. */
static VALUE clock_parts(VALUE self)
{
#define STEP_ROW(code, of, is) "STEP(" #code ", " #of ", " #is ")\n"
#define SUM_ROW(code, of, is) "SUM(" #code ", " #of ", " #is ")\n"
#define BOTH_ROW(code, of, is) "BOTH(" #code ", " #of ", " #is ")\n"
#define INSIDE_ROW(code, of, is) "INSIDE(" #code ", " #of ", " #is ")\n"
#define OUTSIDE_ROW(code, of, is) "OUTSIDE(" #code ", " #of ", " #is ")\n"
#define COUNT_ROW(code) "COUNT(" #code ")\n"
#define MARKER_ROW(code, number) "MARKER(" #code ", " #number ")\n"
    return rb_utf8_str_new_cstr(PARTS_OF_TIME(STEP_ROW, SUM_ROW, BOTH_ROW, INSIDE_ROW, OUTSIDE_ROW)
        COUNTS_OF_WORK(COUNT_ROW) MARKERS_IN_TRACES(MARKER_ROW));
}

static VALUE symbols(const char *const *names, size_t count)
{
    VALUE list = rb_ary_new_capa((long)count);
    for (size_t i = 0; i < count; i++) rb_ary_push(list, ID2SYM(rb_intern(names[i])));
    return rb_obj_freeze(list);
}

/* Returns where everything is in a ledger's file: numbers, and the names of fields and codes in their order. */
static VALUE clock_layout(VALUE self)
{
#define PLACE(name, value) rb_hash_aset(layout, ID2SYM(rb_intern(#name)), ULL2NUM(value))
#define QUOTED(name) #name,
#define NAMES(name, list) do { \
        static const char *const names[] = {list(QUOTED)}; \
        rb_hash_aset(layout, ID2SYM(rb_intern(#name)), symbols(names, sizeof(names) / sizeof(*names))); \
    } while (0)
    VALUE layout = rb_hash_new();

    PLACE(magic, LEDGER_MAGIC);
    PLACE(layout, LEDGER_LAYOUT);
    PLACE(epoch_offset, offsetof(struct ledger_header, epoch));
    PLACE(facts_offset, offsetof(struct ledger_header, facts));
    PLACE(facts_bytes, FACTS_BYTES);
    PLACE(entries_offset, ENTRIES_OFFSET);
    PLACE(entries_max, ENTRIES_MAX);
    PLACE(entry_bytes, sizeof(struct ledger_entry));
    PLACE(kind_offset, offsetof(struct ledger_entry, kind));
    PLACE(counts_offset, offsetof(struct ledger_entry, counts));
    PLACE(sums_offset, offsetof(struct ledger_entry, sums));
    PLACE(name_offset, offsetof(struct ledger_entry, name));
    PLACE(name_bytes, NAME_BYTES);
    PLACE(blames_offset, offsetof(struct ledger_entry, blames));
    PLACE(histograms_offset, HISTOGRAMS_OFFSET);
    PLACE(histograms_count, HISTOGRAMS);
    PLACE(buckets_count, BUCKETS);
    PLACE(traces_offset, TRACES_OFFSET);
    PLACE(traces_max, TRACES_MAX);
    PLACE(traces_per_entry_max, TRACES_PER_ENTRY_MAX);
    PLACE(trace_bytes, sizeof(struct ledger_trace));
    PLACE(steps_offset, offsetof(struct ledger_trace, steps));
    PLACE(step_ns_bits, STEP_NS_BITS);
    PLACE(locks_offset, LOCKS_OFFSET);
    PLACE(locks_max, LOCKS_MAX);
    PLACE(first_lock_offset, offsetof(struct ledger_locks, locks));
    PLACE(lock_bytes, sizeof(struct ledger_lock));
    PLACE(lock_class_offset, offsetof(struct ledger_lock, class_name));
    PLACE(lock_class_bytes, CLASS_BYTES);
    PLACE(lock_place_offset, offsetof(struct ledger_lock, place));
    PLACE(lock_place_bytes, PLACE_BYTES);
    PLACE(threads_max, SLOTS_MAX);
    PLACE(lanes_wanted_offset, offsetof(struct ledger_header, lanes_wanted_ns));
    PLACE(lanes_offset, LANES_OFFSET);
    PLACE(first_lane_offset, offsetof(struct ledger_lanes, lanes));
    PLACE(lanes_max, LANES_MAX);
    PLACE(lane_bytes, sizeof(struct ledger_lane));
    PLACE(lane_name_offset, offsetof(struct ledger_lane, name));
    PLACE(lane_name_bytes, LANE_NAME_BYTES);
    PLACE(lane_records_offset, offsetof(struct ledger_lanes, records));
    PLACE(lane_records_max, LANE_RECORDS_MAX);
    PLACE(lane_record_bytes, sizeof(struct ledger_lane_record));
    NAMES(header, LEDGER_HEADER);
    NAMES(kinds, KINDS_OF_ENTRIES);
    NAMES(trace, LEDGER_TRACE);
    NAMES(locks_header, LEDGER_LOCKS);
    NAMES(lock, LEDGER_LOCK);
    NAMES(lock_kinds, KINDS_OF_LOCKS);
    NAMES(lanes, LEDGER_LANES);
    NAMES(lane, LEDGER_LANE);
    NAMES(lane_states, STATES_OF_LANES);
    NAMES(lane_record_kinds, KINDS_OF_LANE_RECORDS);
    return rb_obj_freeze(layout);
}

RUBY_FUNC_EXPORTED void Init_puma_tuner_probe(void)
{
    VALUE tuner = rb_define_module("PumaTuner");
    VALUE probe = rb_define_module_under(tuner, "Probe");
    VALUE gvl_clock = rb_define_module_under(probe, "GvlClock");

    rb_ext_ractor_safe(true); /* there nothing is watched, and methods of locks do what they did */
    rb_define_singleton_method(gvl_clock, "install", clock_install, 0);
    rb_define_singleton_method(gvl_clock, "installed?", clock_is_installed, 0);
    rb_define_singleton_method(gvl_clock, "looks_only=", clock_set_looks_only, 1);
    rb_define_singleton_method(gvl_clock, "refusal", clock_refusal, 0);
    rb_define_singleton_method(gvl_clock, "place_bytes", clock_place_bytes, 1);
    rb_define_singleton_method(gvl_clock, "start", clock_start, 0);
    rb_define_singleton_method(gvl_clock, "open_ledger", clock_open_ledger, -1);
    rb_define_singleton_method(gvl_clock, "entry", clock_entry, 2);
    rb_define_singleton_method(gvl_clock, "request_begin", clock_request_begin, -1);
    rb_define_singleton_method(gvl_clock, "job_begin", clock_job_begin, 0);
    rb_define_singleton_method(gvl_clock, "request_end", clock_request_end, 3);
    rb_define_singleton_method(gvl_clock, "request_take", clock_request_take, 1);
    rb_define_singleton_method(gvl_clock, "discard", clock_discard, 0);
    rb_define_singleton_method(gvl_clock, "sweep", clock_sweep, 0);
    rb_define_singleton_method(gvl_clock, "now_ns", clock_now_ns, 0);
    rb_define_singleton_method(gvl_clock, "woken_ns", clock_woken_ns, 0);
    rb_define_singleton_method(gvl_clock, "checkout", clock_checkout, 1);
    rb_define_singleton_method(gvl_clock, "scope", clock_scope, 1);
    rb_define_singleton_method(gvl_clock, "attribute", clock_attribute, 2);
    rb_define_singleton_method(gvl_clock, "watch_locks", clock_watch_locks, 0);
    rb_define_singleton_method(gvl_clock, "pool_tried", clock_pool_tried, 1);
    rb_define_singleton_method(gvl_clock, "pool_got", clock_pool_got, 2);
    rb_define_singleton_method(gvl_clock, "pool_returned", clock_pool_returned, 1);
    rb_define_singleton_method(gvl_clock, "totals", clock_totals, 1);
    rb_define_singleton_method(gvl_clock, "unobserved_threads_count", clock_unobserved_threads_count, 0);
    rb_define_singleton_method(gvl_clock, "add", clock_add, 2);
    rb_define_singleton_method(gvl_clock, "bucket_of", clock_bucket_of, 1);
    rb_define_singleton_method(gvl_clock, "parts", clock_parts, 0);
    rb_define_singleton_method(gvl_clock, "layout", clock_layout, 0);
    rb_define_singleton_method(gvl_clock, "cost_per_cycle_ns", clock_cost_per_cycle_ns, 0);
    rb_define_singleton_method(gvl_clock, "cost_per_request_ns=", clock_set_cost_per_request_ns, 1);
}
