/* What Ruby sees: PumaTuner::Load::Loop.run, whose options lib/puma_tuner/load/native.rb makes. */
#include "load.h"
#include "stall.h"
#include <errno.h>
#include <ruby.h>
#include <ruby/thread.h>
#include <stdlib.h>
#include <string.h>

struct call { const struct plan *plan; struct tally *tally; volatile bool stop; bool done; int error; };

static void *run_without_gvl(void *data)
{
    struct call *call = data;
    call->done = load_run(call->plan, call->tally, &call->stop);
    call->error = errno;
    return NULL;
}

static void stop(void *data) { ((struct call *)data)->stop = true; }

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
    set(hash, "body_bytes", ULL2NUM(tally->body_bytes));
    set(hash, "body_bytes_min", ULL2NUM(tally->body_bytes_min));
    set(hash, "body_bytes_max", ULL2NUM(tally->body_bytes_max));
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
    set(hash, "service_sum_ns", ULL2NUM(tally->service_sum_ns));
    set(hash, "intended_count", ULL2NUM(tally->intended_count));
    set(hash, "answered_count", ULL2NUM(tally->answered_count));
    set(hash, "held_back_count", ULL2NUM(tally->held_back_count));
    set(hash, "unanswered_count", ULL2NUM(tally->unanswered_count));
    set(hash, "broken_count", ULL2NUM(tally->broken_count));
    set(hash, "connections_count", ULL2NUM(tally->connections_count));
    set(hash, "in_flight_max", ULL2NUM(tally->in_flight_max));
    set(hash, "elapsed_ns", ULL2NUM(tally->ended_ns - tally->began_ns));
    set(hash, "cpu_ns", ULL2NUM(tally->cpu_ns));
    set(hash, "first_breakage", tally->first_breakage[0] ? rb_utf8_str_new_cstr(tally->first_breakage) : Qnil);
    return hash;
}

/* `source`: {bytes:, head:, expected: [statuses], body_text: nil or String}. The strings stay referenced by the caller. */
static void fill_request(struct request *request, VALUE source)
{
    VALUE bytes = fetch(source, "bytes"), expected = fetch(source, "expected"), body_text = fetch(source, "body_text");

    request->bytes = RSTRING_PTR(bytes);
    request->length = (size_t)RSTRING_LEN(bytes);
    request->head = RTEST(fetch(source, "head"));
    for (long i = 0; i < RARRAY_LEN(expected); i++) {
        int status = NUM2INT(RARRAY_AREF(expected, i));
        if (status >= 0 && status < STATUSES) request->expected[status / 8] |= (uint8_t)(1 << (status % 8));
    }
    if (!NIL_P(body_text)) {
        request->body_text = RSTRING_PTR(body_text);
        request->body_text_length = (size_t)RSTRING_LEN(body_text);
    }
}

static VALUE loop_run(VALUE self, VALUE options)
{
    VALUE sources = fetch(options, "requests"), order = fetch(options, "order"), address = fetch(options, "address");
    VALUE raw_path = fetch(options, "raw_path"), result = Qnil;
    uint32_t requests_count = (uint32_t)RARRAY_LEN(sources);
    struct tally *tally = calloc(1, sizeof(*tally));
    struct request *requests = calloc(requests_count, sizeof(*requests));
    struct plan plan = {
        .requests = requests, .requests_count = requests_count,
        .order = (const uint32_t *)RSTRING_PTR(order), .order_count = (uint32_t)(RSTRING_LEN(order) / sizeof(uint32_t)),
        .mode = (enum mode)NUM2INT(fetch(options, "mode")), .rate_per_s = NUM2DBL(fetch(options, "rate_per_s")),
        .connections_max = NUM2UINT(fetch(options, "connections_count")),
        .reuse_min = NUM2UINT(fetch(options, "reuse_min")), .reuse_max = NUM2UINT(fetch(options, "reuse_max")),
        .duration_ns = NUM2ULL(fetch(options, "duration_ns")), .think_ns = NUM2ULL(fetch(options, "think_ns")),
        .drain_ns = NUM2ULL(fetch(options, "drain_ns")), .seed = NUM2ULL(fetch(options, "seed")),
    };
    struct call call = {&plan, tally, false, false, 0};

    if (tally) tally->requests = calloc(requests_count, sizeof(*tally->requests));
    if (!tally || !requests || !tally->requests) rb_raise(rb_eNoMemError, "no memory for the load");
    for (uint32_t i = 0; i < requests_count; i++) fill_request(&requests[i], RARRAY_AREF(sources, i));
    memcpy(&plan.address, RSTRING_PTR(address), (size_t)RSTRING_LEN(address));
    plan.address_length = (socklen_t)RSTRING_LEN(address);
    if (!NIL_P(raw_path)) {
        plan.raw = fopen(StringValueCStr(raw_path), "w");
        if (plan.raw) fputs("request,intended_ns,sent_ns,answered_ns,status,body_bytes\n", plan.raw);
        else call.error = errno;
    }
    if (!call.error) rb_thread_call_without_gvl(run_without_gvl, &call, stop, &call);
    if (call.done) result = tally_hash(tally, requests_count);
    if (plan.raw) fclose(plan.raw);
    free(tally->requests);
    free(tally);
    free(requests);
    RB_GC_GUARD(options);
    if (!call.done) rb_syserr_fail(call.error, "the load could not be begun");
    return result;
}

/* In a process of its own: nothing but a signal ends it. */
static VALUE loop_serve_stall(VALUE self, VALUE listener, VALUE service_ns, VALUE stall_ns, VALUE stall_after_ns)
{
    stall_serve(NUM2INT(listener), NUM2ULL(service_ns), NUM2ULL(stall_ns), NUM2ULL(stall_after_ns));
    return Qnil;
}

RUBY_FUNC_EXPORTED void Init_puma_tuner_load(void)
{
    VALUE load = rb_define_module_under(rb_define_module("PumaTuner"), "Load");
    VALUE loop = rb_define_module_under(load, "Loop");
    rb_define_singleton_method(loop, "run", loop_run, 1);
    rb_define_singleton_method(loop, "serve_stall", loop_serve_stall, 4);
}
