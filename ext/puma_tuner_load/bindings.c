/* Defines what Ruby sees: PumaTuner::Load::Loop.run, whose options lib/puma_tuner/load/native_plan.rb makes. It runs in a process of
 * its own, which ends with it: what an exception leaves behind is not freed. */
#include "events.h"
#include "load.h"
#include "stall.h"
#include <errno.h>
#include <ruby.h>
#include <ruby/thread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct call { const struct plan *plan; struct tally *tally; bool stop; bool done; int error; };

static void *run_without_gvl(void *data)
{
    struct call *call = data;
    call->done = load_run(call->plan, call->tally, &call->stop);
    call->error = errno;
    return NULL;
}

static void stop(void *data) { __atomic_store_n(&((struct call *)data)->stop, true, __ATOMIC_RELAXED); }

/* Who asks before the loop has begun, when there is nothing to interrupt yet, asks for its end all the same. */
static bool stop_asked;
static struct call *running;

/* For a trap. Of several loads at once it ends the one that began last, and all that begin later. */
static VALUE loop_stop(VALUE self)
{
    stop_asked = true;
    if (running) stop(running);
    return Qnil;
}

static VALUE fetch(VALUE options, const char *name) { return rb_hash_fetch(options, ID2SYM(rb_intern(name))); }

/* [bucket, count, …] of those that counted. */
static VALUE buckets(const uint64_t *counts)
{
    VALUE pairs = rb_ary_new();
    for (int i = 0; i < BUCKETS; i++) {
        if (counts[i]) rb_ary_push(pairs, rb_assoc_new(INT2NUM(i), ULL2NUM(counts[i])));
    }
    return pairs;
}

static void set(VALUE hash, const char *name, VALUE value) { rb_hash_aset(hash, ID2SYM(rb_intern(name)), value); }

static VALUE request_hash(const struct request_tally *tally)
{
    VALUE hash = rb_hash_new(), statuses = rb_hash_new();
    for (int i = 0; i < STATUSES; i++) {
        if (tally->statuses[i]) rb_hash_aset(statuses, INT2NUM(i), ULL2NUM(tally->statuses[i]));
    }
    set(hash, "statuses", statuses);
    set(hash, "answered_count", ULL2NUM(tally->answered_count));
    set(hash, "unexpected_count", ULL2NUM(tally->unexpected_count));
    set(hash, "wrong_body_count", ULL2NUM(tally->wrong_body_count));
    set(hash, "unpicked_count", ULL2NUM(tally->unpicked_count));
    set(hash, "unpicked", UINT2NUM(tally->unpicked));
    set(hash, "body_bytes", ULL2NUM(tally->body_bytes));
    set(hash, "body_bytes_min", ULL2NUM(tally->body_bytes_min));
    set(hash, "body_bytes_max", ULL2NUM(tally->body_bytes_max));
    set(hash, "redirected_count", ULL2NUM(tally->redirected_count));
    set(hash, "location", tally->location[0] ? rb_utf8_str_new_cstr(tally->location) : Qnil);
    set(hash, "other_locations", tally->other_locations ? Qtrue : Qfalse);
    set(hash, "latency", buckets(tally->latency));
    return hash;
}

static VALUE tally_hash(const struct tally *tally, uint32_t requests_count)
{
    VALUE hash = rb_hash_new(), requests = rb_ary_new();
    for (uint32_t i = 0; i < requests_count; i++) rb_ary_push(requests, request_hash(&tally->requests[i]));
    set(hash, "requests", requests);
    set(hash, "latency", buckets(tally->latency));
    set(hash, "service", buckets(tally->service));
    set(hash, "lag", buckets(tally->lag));
    set(hash, "latency_sum_ns", ULL2NUM(tally->latency_sum_ns));
    set(hash, "latency_max_ns", ULL2NUM(tally->latency_max_ns));
    set(hash, "service_sum_ns", ULL2NUM(tally->service_sum_ns));
    set(hash, "intended_count", ULL2NUM(tally->intended_count));
    set(hash, "answered_count", ULL2NUM(tally->answered_count));
    set(hash, "in_time_count", ULL2NUM(tally->in_time_count));
    set(hash, "first_response_ns", ULL2NUM(tally->first_response_ns));
    set(hash, "connection_wait_count", ULL2NUM(tally->connection_wait_count));
    set(hash, "unanswered_count", ULL2NUM(tally->unanswered_count));
    set(hash, "failed_count", ULL2NUM(tally->failed_count));
    set(hash, "retried_count", ULL2NUM(tally->retried_count));
    set(hash, "connections_count", ULL2NUM(tally->connections_count));
    set(hash, "in_flight_max", ULL2NUM(tally->in_flight_max));
    set(hash, "settling_ns", ULL2NUM(tally->settling_ns));
    set(hash, "unmet_count", ULL2NUM(tally->unmet_count));
    set(hash, "set_up_count", ULL2NUM(tally->set_up_count));
    set(hash, "dropped_cookies_count", ULL2NUM(tally->dropped_cookies_count));
    set(hash, "elapsed_ns", ULL2NUM(tally->ended_ns - tally->began_ns));
    set(hash, "cpu_ns", ULL2NUM(tally->cpu_ns));
    set(hash, "stopped", tally->stopped ? Qtrue : Qfalse);
    set(hash, "refused", tally->refused ? Qtrue : Qfalse);
    set(hash, "redirected", tally->redirected ? Qtrue : Qfalse);
    set(hash, "first_failure", tally->first_failure[0] ? rb_utf8_str_new_cstr(tally->first_failure) : Qnil);
    return hash;
}

static void *zeroed(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory) rb_raise(rb_eNoMemError, "no memory for the load");
    return memory;
}

/* `source`: [bytes, holes], or bytes alone for none; holes: three native uint32_t each, as in struct hole. */
static struct message message_of(VALUE source)
{
    VALUE text = RB_TYPE_P(source, T_ARRAY) ? rb_ary_entry(source, 0) : source, holes = RB_TYPE_P(source, T_ARRAY) ? rb_ary_entry(source, 1) : Qnil;
    struct message message = {RSTRING_PTR(text), (size_t)RSTRING_LEN(text), NULL, 0};

    if (NIL_P(holes)) return message;
    message.holes = (const struct hole *)RSTRING_PTR(holes);
    message.holes_count = (uint32_t)((size_t)RSTRING_LEN(holes) / sizeof(struct hole));
    return message;
}

/* `sources`: [[place of the value, enum source, key], …] */
static const struct pick *picks_of(VALUE sources)
{
    struct pick *picks = zeroed((size_t)RARRAY_LEN(sources), sizeof(*picks));

    for (long i = 0; i < RARRAY_LEN(sources); i++) {
        VALUE source = RARRAY_AREF(sources, i), key = rb_ary_entry(source, 2);
        picks[i] = (struct pick){NUM2UINT(rb_ary_entry(source, 0)), (enum source)NUM2INT(rb_ary_entry(source, 1)), RSTRING_PTR(key), (size_t)RSTRING_LEN(key)};
    }
    return picks;
}

/* `source`: {messages: see message_of, weight:, head:, expected: [statuses], redirect_is_meant:, body_text: nil or String, picks: see picks_of}.
 * The strings stay referenced by the caller. */
static void fill_request(struct request *request, VALUE source)
{
    VALUE texts = fetch(source, "messages"), expected = fetch(source, "expected"), body_text = fetch(source, "body_text");
    VALUE picks = fetch(source, "picks");
    struct message *messages = zeroed((size_t)RARRAY_LEN(texts), sizeof(*messages));

    for (long i = 0; i < RARRAY_LEN(texts); i++) messages[i] = message_of(RARRAY_AREF(texts, i));
    request->messages = messages;
    request->messages_count = (uint32_t)RARRAY_LEN(texts);
    request->picks = picks_of(picks);
    request->picks_count = (uint32_t)RARRAY_LEN(picks);
    request->keeps_body = request->picks_count || !NIL_P(body_text);
    request->weight = NUM2UINT(fetch(source, "weight"));
    request->head = RTEST(fetch(source, "head"));
    request->redirect_is_meant = RTEST(fetch(source, "redirect_is_meant"));
    for (long i = 0; i < RARRAY_LEN(expected); i++) {
        int status = NUM2INT(RARRAY_AREF(expected, i));
        if (status >= 0 && status < STATUSES) request->expected[status / 8] |= (uint8_t)(1 << (status % 8));
    }
    if (!NIL_P(body_text)) {
        request->body_text = RSTRING_PTR(body_text);
        request->body_text_length = (size_t)RSTRING_LEN(body_text);
    }
}

/* `sources`: nil, or [[cookies, [value, …]], …], one for each connection, as client_states makes them. */
static struct client *clients_of(VALUE sources, uint32_t connections_max)
{
    struct client *clients;

    if (NIL_P(sources)) return NULL;
    if (RARRAY_LEN(sources) != (long)connections_max) rb_raise(rb_eArgError, "not as many clients as connections");
    clients = zeroed(connections_max, sizeof(*clients));
    for (uint32_t i = 0; i < connections_max; i++) {
        VALUE source = RARRAY_AREF(sources, i), cookies = rb_ary_entry(source, 0), values = rb_ary_entry(source, 1);
        struct client *client = &clients[i];

        client->values_count = (uint32_t)RARRAY_LEN(values);
        client->values = zeroed(client->values_count, sizeof(*client->values));
        for (uint32_t j = 0; j < client->values_count; j++) {
            VALUE value = RARRAY_AREF(values, j);
            if (!load_client_set(client, j, RSTRING_PTR(value), (size_t)RSTRING_LEN(value))) rb_raise(rb_eNoMemError, "no memory for a client");
        }
        client->jar.length = client->jar.room = (uint32_t)RSTRING_LEN(cookies);
        if (client->jar.room) client->jar.bytes = memcpy(zeroed(client->jar.room, 1), RSTRING_PTR(cookies), client->jar.room);
    }
    return clients;
}

/* What the clients have after the load. */
static VALUE client_states(const struct client *clients, uint32_t count)
{
    VALUE states = rb_ary_new();

    if (!clients) return Qnil;
    for (uint32_t i = 0; i < count; i++) {
        const struct client *client = &clients[i];
        VALUE values = rb_ary_new();
        for (uint32_t j = 0; j < client->values_count; j++) rb_ary_push(values, rb_str_new(client->values[j].bytes, client->values[j].length));
        rb_ary_push(states, rb_assoc_new(rb_str_new(client->jar.bytes, client->jar.length), values));
    }
    return states;
}

/* This thread only, which is the one that sends. */
static void stay_on(VALUE core)
{
    if (NIL_P(core)) return;
#ifdef HAVE_SCHED_SETAFFINITY
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(NUM2UINT(core), &cores);
    if (sched_setaffinity(0, sizeof(cores), &cores)) rb_sys_fail("the core it is to stay on");
#else
    rb_raise(rb_eNotImpError, "threads are not bound to cores on this system");
#endif
}

#define RAW_BUFFER_BYTES 1048576

static FILE *open_raw(VALUE path)
{
    FILE *raw;

    if (NIL_P(path)) return NULL;
    raw = fopen(StringValueCStr(path), "w");
    if (!raw) rb_sys_fail_str(path);
    setvbuf(raw, NULL, _IOFBF, RAW_BUFFER_BYTES); /* to write takes time in which nothing is sent */
    fputs("request,intended_ns,sent_ns,answered_ns,status,body_bytes\n", raw);
    return raw;
}

/* A disk that was full for a while has left its error in the file, and none in errno. */
static void close_raw(FILE *raw)
{
    bool failed = ferror(raw);

    errno = 0;
    if (fclose(raw) || failed) rb_syserr_fail(errno ? errno : ENOSPC, "the raw file");
}

static struct plan plan_of(VALUE options, struct request *requests, uint32_t requests_count)
{
    VALUE order = fetch(options, "order"), address = fetch(options, "address");
    struct plan plan = {
        .requests = requests, .requests_count = requests_count,
        .order = (const uint32_t *)RSTRING_PTR(order), .order_count = (uint32_t)((size_t)RSTRING_LEN(order) / sizeof(uint32_t)),
        .mode = (enum mode)NUM2INT(fetch(options, "mode")), .rate_per_s = NUM2DBL(fetch(options, "rate_per_s")),
        .connections_max = NUM2UINT(fetch(options, "connections_count")),
        .reuse_min = NUM2UINT(fetch(options, "reuse_min")), .reuse_max = NUM2UINT(fetch(options, "reuse_max")),
        .duration_ns = NUM2ULL(fetch(options, "duration_ns")), .think_ns = NUM2ULL(fetch(options, "think_ns")),
        .settling_limit_ns = NUM2ULL(fetch(options, "settling_limit_ns")), .drain_ns = NUM2ULL(fetch(options, "drain_ns")),
        .drain_limit_ns = NUM2ULL(fetch(options, "drain_limit_ns")), .seed = NUM2ULL(fetch(options, "seed")),
        .address_length = (socklen_t)RSTRING_LEN(address), .raw = open_raw(fetch(options, "raw_path")),
    };

    if ((size_t)RSTRING_LEN(address) > sizeof(plan.address)) rb_raise(rb_eArgError, "no address of a socket");
    memcpy(&plan.address, RSTRING_PTR(address), (size_t)RSTRING_LEN(address));
    plan.clients = clients_of(fetch(options, "clients"), plan.connections_max);
    return plan;
}

/* @param options [Hash] as lib/puma_tuner/load/native_plan.rb makes it
 * @return [Hash] the tally; an interruption ends the load early, and what there is by then is returned */
static VALUE loop_run(VALUE self, VALUE options)
{
    VALUE sources = fetch(options, "requests"), result;
    uint32_t requests_count = (uint32_t)RARRAY_LEN(sources);
    struct request *requests = zeroed(requests_count, sizeof(*requests));
    struct tally *tally = zeroed(1, sizeof(*tally));
    struct plan plan = plan_of(options, requests, requests_count);
    struct call call = {&plan, tally, false, false, 0};

    tally->requests = zeroed(requests_count, sizeof(*tally->requests));
    for (uint32_t i = 0; i < requests_count; i++) fill_request(&requests[i], RARRAY_AREF(sources, i));
    stay_on(fetch(options, "core"));
    running = &call;
    call.stop = stop_asked;
    rb_thread_call_without_gvl(run_without_gvl, &call, stop, &call);
    if (running == &call) running = NULL;
    if (!call.done) rb_syserr_fail(call.error, "the load could not be begun");
    if (plan.raw) close_raw(plan.raw);
    result = tally_hash(tally, requests_count);
    set(result, "clients", client_states(plan.clients, plan.connections_max));
    for (uint32_t i = 0; plan.clients && i < plan.connections_max; i++) load_client_free(&plan.clients[i]);
    free(plan.clients);
    for (uint32_t i = 0; i < requests_count; i++) {
        free((void *)requests[i].messages);
        free((void *)requests[i].picks);
    }
    free(tally->requests);
    free(tally);
    free(requests);
    RB_GC_GUARD(options);
    return result;
}

/* Runs in a process of its own: nothing but SIGTERM ends it. Returns how late it was itself: [responses' p99, standstill], ns. */
static VALUE loop_serve_stall(VALUE self, VALUE listener, VALUE service_ns, VALUE stall_ns, VALUE stall_after_ns)
{
    struct stall_lateness lateness = stall_serve(NUM2INT(listener),
        (struct stall_plan){NUM2ULL(service_ns), NUM2ULL(stall_ns), NUM2ULL(stall_after_ns)});
    return rb_assoc_new(ULL2NUM(lateness.answers_p99_ns), ULL2NUM(lateness.standstill_ns));
}

RUBY_FUNC_EXPORTED void Init_puma_tuner_load(void)
{
    VALUE load = rb_define_module_under(rb_define_module("PumaTuner"), "Load");
    VALUE loop = rb_define_module_under(load, "Loop");
    rb_define_const(loop, "EVENTS_BY", rb_obj_freeze(rb_utf8_str_new_cstr(EVENTS_BY)));
    rb_define_singleton_method(loop, "run", loop_run, 1);
    rb_define_singleton_method(loop, "stop", loop_stop, 0);
    rb_define_singleton_method(loop, "serve_stall", loop_serve_stall, 4);
}
