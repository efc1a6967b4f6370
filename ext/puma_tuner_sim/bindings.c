/* Defines what Ruby sees: PumaTuner::Predict::Core.run, whose argument lib/puma_tuner/predict/plan.rb makes. It holds no GVL while it
 * runs, so that one sweep uses all cores. */
#include "sim.h"
#include <ruby.h>
#include <ruby/thread.h>
#include <ctype.h>
#include <stdlib.h>

struct call { struct sim *sim; const struct plan *plan; bool stop; bool done; };

static void *run_without_gvl(void *data)
{
    struct call *call = data;
    call->done = sim_run(call->sim, call->plan, &call->stop);
    return NULL;
}

/* An Interrupt, or the thread is killed. */
static void stop(void *data) { __atomic_store_n(&((struct call *)data)->stop, true, __ATOMIC_RELAXED); }

static VALUE fetch(VALUE options, const char *name) { return rb_hash_fetch(options, ID2SYM(rb_intern(name))); }

/* Whole numbers as Array#pack("q*") writes them, checked for their count. The String must outlive the run, and stay where it is:
 * `kept` is on the caller's stack. */
static const int64_t *numbers_or_none(VALUE options, const char *name, int64_t per_item, int64_t *count, volatile VALUE *kept)
{
    VALUE bytes = fetch(options, name);

    StringValue(bytes);
    if (RSTRING_LEN(bytes) % (8 * per_item)) rb_raise(rb_eArgError, "%s: %ld bytes", name, RSTRING_LEN(bytes));
    *count = RSTRING_LEN(bytes) / (8 * per_item);
    *kept = bytes;
    return (const int64_t *)RSTRING_PTR(bytes);
}

static const int64_t *numbers_of(VALUE options, const char *name, int64_t per_item, int64_t *count, volatile VALUE *kept)
{
    const int64_t *numbers = numbers_or_none(options, name, per_item, count, kept);

    if (*count == 0) rb_raise(rb_eArgError, "%s: empty", name);
    return numbers;
}

static void read_numbers(VALUE options, struct plan *plan)
{
#define READ(name) plan->name = NUM2LL(fetch(options, #name))
    READ(seed); READ(requests_count); READ(warm_up_count); READ(steps_max);
    READ(workers_count); READ(threads_min); READ(threads_max); READ(io_threads_max);
    READ(gvl_rule); READ(tick_ns); READ(ticks_per_slice); READ(handoff_ns); READ(handoff_busy_ns);
    READ(switch_cpu_ns); READ(switch_busy_cpu_ns); READ(cold_cpu_ns); READ(release_cpu_ns);
    READ(meeting_permille); READ(affinity); READ(queue_requests);
    READ(after_response); READ(park_ns); READ(inline_max); READ(gate); READ(busy_delay_ns); READ(single_delay); READ(overload_delay_ns); READ(overload_factor);
    READ(acceptor_cpu_ns); READ(reactor_wakeup_cpu_ns); READ(reactor_register_cpu_ns); READ(tail_cpu_ns);
    READ(cores_count); READ(quota_ns); READ(period_ns);
    READ(arrivals); READ(connections_count); READ(think_ns); READ(reuse_count); READ(send_cpu_ns); READ(receive_cpu_ns);
#undef READ
    plan->gap_ns = NUM2DBL(fetch(options, "gap_ns"));
    plan->group_count = NUM2DBL(fetch(options, "group_count"));
}

static void read_stations(VALUE options, struct plan *plan)
{
    VALUE stations = fetch(options, "stations");
    Check_Type(stations, T_ARRAY);
    for (int i = 0; i < PARTS; i++) plan->stations[i] = NUM2LL(rb_ary_entry(stations, i));
}

static void refuse_piece(const struct plan *plan, const struct piece *piece)
{
#define IS_WAIT(code, of, is) [PART_##code] = !!((is) & WAIT),
    static const bool is_wait[PARTS] = {PARTS_OF_TIME(IS_WAIT, PARTS_NOTHING, IS_WAIT, IS_WAIT, PARTS_NOTHING)};
    bool is_marker = piece->wait_kind == ACQUIRE || piece->wait_kind == RELEASE;

    if (is_marker && piece->wait_ns >= plan->locks_count) rb_raise(rb_eArgError, "a lock that is not there");
    if (is_marker) return;
    if (piece->wait_kind < 0 || piece->wait_kind >= PARTS || !is_wait[piece->wait_kind]) {
        rb_raise(rb_eArgError, "a wait of an unknown kind");
    }
}

static void refuse(const struct plan *plan, int64_t pieces_count, int64_t demands_count, int64_t picks_count)
{
    if (plan->requests_count < 1 || plan->requests_count > 100000000 || plan->workers_count < 1 || plan->workers_count > 10000 || plan->threads_max < 1
        || plan->threads_max + plan->io_threads_max > 10000 || plan->threads_min < 0 || plan->threads_min > plan->threads_max || plan->connections_count < 1
        || plan->connections_count > 10000000 || plan->tick_ns < 1 || plan->ticks_per_slice < 1 || plan->cores_count < 1
        || plan->overload_factor < 1 || (plan->quota_ns && plan->period_ns < 1)) {
        rb_raise(rb_eArgError, "a number is out of range");
    }
    for (int64_t i = 0; i < demands_count; i++) {
        if (plan->demands[i] < 0 || plan->demands[i] >= pieces_count) rb_raise(rb_eArgError, "a demand begins outside of the pieces");
    }
    for (int64_t i = 0; i < picks_count; i++) {
        if (plan->picks[i] < 0 || plan->picks[i] >= demands_count) rb_raise(rb_eArgError, "a pick is no demand");
    }
    if (plan->pieces[pieces_count - 1].wait_ns >= 0) rb_raise(rb_eArgError, "the last demand has no end");
    for (int64_t i = 0; i < pieces_count; i++) refuse_piece(plan, &plan->pieces[i]);
    for (int64_t i = 0; i < plan->locks_count; i++) {
        if (plan->locks[i].servers_count < 1) rb_raise(rb_eArgError, "a lock that nobody can have");
        if (plan->locks[i].handover < 0 || plan->locks[i].handover > ALL_ARE_WOKEN) rb_raise(rb_eArgError, "a lock of no known rule");
    }
    for (int64_t i = 0; i < plan->background_count; i++) {
        /* Without either of them, time would stand still. */
        if (plan->background[i].burst_ns < 0 || plan->background[i].gap_ns < 1) rb_raise(rb_eArgError, "a thread in the background that never rests");
    }
}

static void read_endpoints(VALUE options, struct plan *plan, struct endpoint *endpoints, int64_t picks_count)
{
    VALUE list = fetch(options, "endpoints");

    for (int64_t i = 0; i < plan->endpoints_count; i++) {
        VALUE entry = rb_ary_entry(list, (long)i);
        Check_Type(entry, T_ARRAY);
        endpoints[i] = (struct endpoint){NUM2DBL(rb_ary_entry(entry, 0)), NUM2LL(rb_ary_entry(entry, 1)), NUM2LL(rb_ary_entry(entry, 2)), NUM2LL(rb_ary_entry(entry, 3)),
            NUM2LL(rb_ary_entry(entry, 4))};
        if (endpoints[i].first_pick < 0 || endpoints[i].picks_count < 1 || endpoints[i].first_pick + endpoints[i].picks_count > picks_count) {
            rb_raise(rb_eArgError, "an endpoint has no picks");
        }
    }
    plan->endpoints = endpoints;
}

static void set(VALUE hash, const char *name, VALUE value) { rb_hash_aset(hash, ID2SYM(rb_intern(name)), value); }

/* Sets a code under the name of its constant, which in Ruby is in small letters. */
static void set_constant(VALUE hash, const char *name, VALUE value)
{
    char small[32] = "";

    for (size_t i = 0; name[i] && i < sizeof(small) - 1; i++) small[i] = (char)tolower((unsigned char)name[i]);
    set(hash, small, value);
}

/* Parts of a budget, and what else is added up. */
static VALUE totals_hash(const struct totals *totals)
{
    VALUE hash = rb_hash_new();
#define TOLD(code, of, is) if ((is) & SIMULATED) set_constant(hash, #code, LL2NUM(totals->sums[SUM_##code]));
    PARTS_OF_TIME(PARTS_NOTHING, TOLD, TOLD, TOLD, TOLD)
#undef TOLD
    set(hash, "slices", LL2NUM(totals->slices));
    set(hash, "server_cpu", LL2NUM(totals->server_cpu));
    return hash;
}

/* Indexes of the locks for which those wait that can't go on. */
static VALUE deadlock_array(const struct sim *sim)
{
    VALUE array = rb_ary_new();

    for (int64_t lock = 0; sim->deadlocked && lock < sim->plan->locks_count; lock++) {
        bool waited_for = false;
        for (uint32_t i = 0; i < pool_size(sim->plan); i++) {
            const struct thread *thread = &sim->deadlocked->pool[i];
            if (thread->seen == sim->searches_count && thread->waits_for == lock) waited_for = true;
        }
        if (waited_for) rb_ary_push(array, LL2NUM(lock));
    }
    return array;
}

static VALUE result_hash(const struct sim *sim)
{
    const struct tally *tally = &sim->tally;
    VALUE hash = rb_hash_new();

    set(hash, "count", LL2NUM(tally->count));
    set(hash, "duration_ns", LL2NUM(tally->ended_ns - tally->began_ns));
    set(hash, "latencies", rb_str_new((const char *)tally->latencies, (long)tally->count * 8));
    set(hash, "endpoints", rb_str_new((const char *)tally->endpoints, (long)tally->count * 4));
    set(hash, "worker_counts", rb_str_new((const char *)tally->worker_counts, (long)sim->plan->workers_count * 8));
    set(hash, "totals", totals_hash(&tally->totals));
    set(hash, "lock_waits", rb_str_new((const char *)tally->lock_waits, (long)(sim->plan->locks_count * (int64_t)sizeof(struct lock_waits))));
    set(hash, "deadlock", deadlock_array(sim));
    set(hash, "began_in_flight", LL2NUM(tally->began_in_flight));
    set(hash, "in_flight", LL2NUM(tally->in_flight));
    set(hash, "events_count", ULL2NUM(sim->events_count));
    set(hash, "hash", ULL2NUM(sim->hash));
    return hash;
}

struct results { VALUE hash; struct call *call; };

static VALUE run_and_tell(VALUE data)
{
    struct results *results = (struct results *)data;
    struct call *call = results->call;

    do {
        rb_thread_call_without_gvl(run_without_gvl, call, stop, call);
        rb_thread_check_ints(); /* raises when it was stopped for that */
        if (!call->stop) break;
        sim_free(call->sim);
        call->stop = false;
    } while (true);
    if (!call->done) rb_raise(rb_eNoMemError, "no memory for a simulation");
    if (!tally_full(call->sim) && !call->sim->deadlocked) {
        rb_raise(rb_path2class("PumaTuner::UsageError"),
            "nothing can be predicted: a simulation takes more than %ld steps, as of threads that hardly rest (leave them out: "
            "--what-if \"without thread NAME\"), or of requests that compute for hours", (long)call->plan->steps_max);
    }
    results->hash = result_hash(call->sim);
    return Qnil;
}

static VALUE clean_up(VALUE data)
{
    struct call *call = ((struct results *)data)->call;

    if (call->sim->plan) sim_free(call->sim);
    free(call->sim);
    return Qnil;
}

/* @param options [Hash] of Plan
 * @return [Hash] what came of it */
static VALUE core_run(VALUE self, VALUE options)
{
    struct plan plan = {0};
    struct call call = {.plan = &plan};
    struct results results = {.hash = Qnil, .call = &call};
    int64_t pieces_count, demands_count, picks_count;
    VALUE buffer;
    volatile VALUE kept[10] = {0};

    Check_Type(options, T_HASH);
    read_numbers(options, &plan);
    read_stations(options, &plan);
    plan.wakeup_idle_ns = numbers_of(options, "wakeup_idle_ns", 1, &plan.wakeup_idle_count, &kept[0]);
    plan.wakeup_loaded_ns = numbers_of(options, "wakeup_loaded_ns", 1, &plan.wakeup_loaded_count, &kept[1]);
    plan.rates = numbers_of(options, "rates", 1, &plan.rates_count, &kept[2]);
    plan.picks = numbers_of(options, "picks", 1, &picks_count, &kept[3]);
    plan.demands = numbers_of(options, "demands", 1, &demands_count, &kept[4]);
    plan.pieces = (const struct piece *)numbers_of(options, "pieces", 4, &pieces_count, &kept[5]);
    if (plan.arrivals == REPLAYED) plan.times_ns = numbers_of(options, "times_ns", 1, &plan.times_count, &kept[6]);
    if (plan.arrivals == REPLAYED && plan.times_count < 2) rb_raise(rb_eArgError, "times_ns: two at least");
    plan.locks = (const struct lock_rule *)numbers_or_none(options, "locks", 2, &plan.locks_count, &kept[7]);
    plan.background = (const struct background *)numbers_or_none(options, "background", 2, &plan.background_count, &kept[8]);
    plan.long_gcs_ns = numbers_or_none(options, "long_gcs_ns", 1, &plan.long_gcs_count, &kept[9]);
    refuse(&plan, pieces_count, demands_count, picks_count);
    Check_Type(fetch(options, "endpoints"), T_ARRAY);
    plan.endpoints_count = RARRAY_LEN(fetch(options, "endpoints"));
    if (!plan.endpoints_count) rb_raise(rb_eArgError, "endpoints: empty");
    read_endpoints(options, &plan, ALLOCV_N(struct endpoint, buffer, plan.endpoints_count), picks_count);
    call.sim = calloc(1, sizeof(*call.sim));
    if (!call.sim) rb_raise(rb_eNoMemError, "no memory for a simulation");
    rb_ensure(run_and_tell, (VALUE)&results, clean_up, (VALUE)&results);
    ALLOCV_END(buffer);
    RB_GC_GUARD(options);
    return results.hash;
}

/* Returns, for each kind of codes, their numbers by name. */
static VALUE codes_hash(void)
{
    VALUE all = rb_hash_new(), codes;
#define NUMBER(name) set_constant(codes, #name, INT2FIX(name));
#define CODES(name, list) codes = rb_hash_new(); list(NUMBER) set(all, name, rb_obj_freeze(codes))
#define STEP_NUMBER(code, of, is) set_constant(codes, #code, INT2FIX(PART_##code));
#define STEPS(NUMBER) PARTS_OF_TIME(STEP_NUMBER, PARTS_NOTHING, STEP_NUMBER, STEP_NUMBER, PARTS_NOTHING)
    CODES("step", STEPS);
    CODES("event", EVENTS);
    CODES("gvl_rule", GVL_RULES);
    CODES("after_response", AFTER_RESPONSE);
    CODES("arrivals", ARRIVALS);
    CODES("handover", HANDOVERS);
    return rb_obj_freeze(all);
}

__attribute__((visibility("default"))) void Init_puma_tuner_sim(void)
{
    VALUE core = rb_define_module_under(rb_define_module_under(rb_define_module("PumaTuner"), "Predict"), "Core");
#ifdef HAVE_RB_EXT_RACTOR_SAFE
    rb_ext_ractor_safe(true);
#endif
    rb_define_const(core, "CODES", codes_hash());
    rb_define_module_function(core, "run", core_run, 1);
}
