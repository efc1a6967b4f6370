/*
 * Work of known length, and readings of the kernel's clocks that don't release the GVL: a thread that released it to read a
 * clock would change what is being timed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ruby.h>
#include <ruby/thread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Until the thread has had so much CPU time: the truth then does not depend on what else the machine does. */
static void *spin(void *length_ns)
{
    int64_t end_ns = read_ns(CLOCK_THREAD_CPUTIME_ID) + *(int64_t *)length_ns;
    while (read_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns);
    return NULL;
}

static VALUE spin_with_gvl(VALUE self, VALUE ns)
{
    int64_t length_ns = NUM2LL(ns);
    spin(&length_ns);
    return Qnil;
}

/* Without an unblocking function: it ends by itself. */
static VALUE spin_without_gvl(VALUE self, VALUE ns)
{
    int64_t length_ns = NUM2LL(ns);
    rb_thread_call_without_gvl(spin, &length_ns, NULL, NULL);
    return Qnil;
}

/* How long this thread waited for a core so far, as the kernel counts it; -1 where it doesn't. */
static int64_t run_queue_ns(void)
{
    char text[96];
    long long on_core, waited;
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t length = read(file, text, sizeof(text) - 1);
    close(file);
    if (length <= 0) return -1;
    text[length] = '\0';
    return sscanf(text, "%lld %lld", &on_core, &waited) == 2 ? waited : -1;
}

static VALUE reading(int64_t wall, int64_t thread_cpu, int64_t process_cpu, int64_t run_queue)
{
    return rb_ary_new_from_args(4, LL2NUM(wall), LL2NUM(thread_cpu), LL2NUM(process_cpu), LL2NUM(run_queue));
}

/* The dear readings lie outside of what is timed: first at its beginning, last at its end. */
static VALUE spin_opening(VALUE self)
{
    int64_t run_queue = run_queue_ns(), process_cpu = read_ns(CLOCK_PROCESS_CPUTIME_ID);
    int64_t thread_cpu = read_ns(CLOCK_THREAD_CPUTIME_ID);
    return reading(read_ns(CLOCK_MONOTONIC), thread_cpu, process_cpu, run_queue);
}

static VALUE spin_closing(VALUE self)
{
    int64_t wall = read_ns(CLOCK_MONOTONIC), thread_cpu = read_ns(CLOCK_THREAD_CPUTIME_ID);
    int64_t process_cpu = read_ns(CLOCK_PROCESS_CPUTIME_ID);
    return reading(wall, thread_cpu, process_cpu, run_queue_ns());
}

static cpu_set_t allowed;

static bool stay_on(int core)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    return sched_setaffinity(0, sizeof(one), &one) == 0;
}

/* Keeps this thread on the first core that the process may use. */
static VALUE spin_keep_first(VALUE self)
{
    int first = 0;
    while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &allowed)) first++;
    return stay_on(first) ? Qtrue : Qfalse;
}

static VALUE spin_keep_last(VALUE self)
{
    int last = CPU_SETSIZE - 1;
    while (last > 0 && !CPU_ISSET(last, &allowed)) last--;
    return stay_on(last) ? Qtrue : Qfalse;
}

/* Any core again; threads that are started from now on are bound to none. */
static VALUE spin_roam(VALUE self)
{
    return sched_setaffinity(0, sizeof(allowed), &allowed) == 0 ? Qtrue : Qfalse;
}

void Init_accuracy_spin(void)
{
    VALUE module = rb_define_module("AccuracySpin");
    sched_getaffinity(0, sizeof(allowed), &allowed);
    rb_define_module_function(module, "with_gvl", spin_with_gvl, 1);
    rb_define_module_function(module, "without_gvl", spin_without_gvl, 1);
    rb_define_module_function(module, "opening", spin_opening, 0);
    rb_define_module_function(module, "closing", spin_closing, 0);
    rb_define_module_function(module, "keep_last", spin_keep_last, 0);
    rb_define_module_function(module, "roam", spin_roam, 0);
    rb_define_module_function(module, "keep_first", spin_keep_first, 0);
}
