/* The ledger's file, and what is added to it at the end of a request. See ledger.h. */
#include "ledger.h"
#include "clock.h"
#include "traces.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define ZERO_BYTE_AT_END 1

struct ledger_locks *pt_ledger_locks;
struct ledger_lanes *pt_ledger_lanes;

/* Space is reserved for so many entries at once. */
#define ENTRIES_PER_RESERVATION 16

/* This share of what the ledger may take in all is for traces: an endpoint's sums and histograms come first. */
#define TRACES_SHARE 4

static char *base;
static int file = -1;
static uint64_t reserved_bytes, reserved_traces_bytes, reserved_entries_count, bytes_max;

static struct ledger_header *header(void) { return (struct ledger_header *)base; }

static struct ledger_entry *entry_at(uint32_t index)
{
    return (struct ledger_entry *)(base + ENTRIES_OFFSET) + index;
}

static uint64_t *histogram(uint32_t entry, enum sum sum)
{
    return (uint64_t *)(base + HISTOGRAMS_OFFSET + entry * HISTOGRAM_BLOCK_BYTES) + (size_t)sum * BUCKETS;
}

bool pt_ledger_is_open(void) { return base != NULL; }

/* Makes sure that there is memory behind a range of the file, and that the ledger takes no more than it may: to touch a page that a full
 * disk can't provide would kill the process. */
static bool reserve(size_t offset, size_t bytes)
{
    if (reserved_bytes + bytes > bytes_max) {
        errno = ENOSPC;
        return false;
    }
    if (!reserve_space(file, offset, bytes)) return false;
    reserved_bytes += bytes;
    return true;
}

static bool reserve_histograms(uint32_t first, uint32_t count)
{
    return reserve(HISTOGRAMS_OFFSET + first * HISTOGRAM_BLOCK_BYTES, count * HISTOGRAM_BLOCK_BYTES);
}

/* The table is reserved piece by piece, as it fills. */
static bool reserve_entry(uint64_t index)
{
    uint64_t count = ENTRIES_MAX - index < ENTRIES_PER_RESERVATION ? ENTRIES_MAX - index : ENTRIES_PER_RESERVATION;

    if (index < reserved_entries_count) return true;
    if (!reserve(ENTRIES_OFFSET + index * sizeof(struct ledger_entry), count * sizeof(struct ledger_entry))) return false;
    reserved_entries_count = index + count;
    return true;
}

/* Nobody may see what is written in a turn before its odd number: a store-release would order only what comes before it. */
static void begin_turn(uint64_t *turn)
{
    __atomic_store_n(turn, *turn + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_turn(uint64_t *turn) { __atomic_store_n(turn, *turn + 1, __ATOMIC_RELEASE); }

/* Also in a forked child: the ledger is its parent's, which goes on writing. */
void pt_ledger_close(void)
{
    pt_ledger_locks = NULL;
    pt_ledger_lanes = NULL;
    if (base) munmap(base, LEDGER_BYTES);
    if (file >= 0) close(file);
    base = NULL;
    file = -1;
}

static void write_entry(uint32_t index, enum kind kind, const char *name, size_t length)
{
    struct ledger_entry *entry = entry_at(index);

    entry->kind = kind;
    memcpy(entry->name, name, length);
    __atomic_store_n(&header()->entries_count, index + 1, __ATOMIC_RELEASE);
}

/* A file that grows beyond what the process may write (ulimit -f) does not fail: a signal (SIGXFSZ) ends the process. */
static bool may_be_so_long(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= LEDGER_BYTES) return true;
    errno = EFBIG;
    return false;
}

/* Makes a new ledger that takes at most so many bytes of its place, and locks it as long as this process writes it. Others take a ledger
 * that nobody has locked for an ended process's, and may remove it; and to ask they hold its lock for a moment. So it gets its name last,
 * when it is locked. Returns NULL, or why it could not. */
const char *pt_ledger_open(const char *path, const char *facts, uint64_t most_bytes)
{
    static const struct { enum kind kind; const char *name; } first[FIRST_ENTRIES] = {
        {KIND_SPECIAL, "(other)"}, {KIND_SPECIAL, "(gc)"}, {KIND_SPECIAL, "(puma)"}, {KIND_SPECIAL, "(scratch)"},
        {KIND_REQUEST, "(other)"}, {KIND_JOB, "(other)"},
    };
    char partial[PATH_MAX];
    void *mapping;
    int error;

    pt_ledger_close();
    if (snprintf(partial, sizeof(partial), "%s.partial", path) >= (int)sizeof(partial)) return strerror(ENAMETOOLONG);
    file = open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return strerror(errno);
    reserved_bytes = reserved_traces_bytes = reserved_entries_count = 0;
    bytes_max = most_bytes;
    (void)flock(file, LOCK_EX | LOCK_NB); /* where there is no such lock, the ledger is taken for an ended one's */
    if (!may_be_so_long() || ftruncate(file, LEDGER_BYTES)) goto failed;
    if (!reserve(0, ENTRIES_OFFSET) || !reserve_histograms(SPECIAL_ENTRIES, FIRST_ENTRIES - SPECIAL_ENTRIES) || !reserve_entry(0)) goto failed;
    mapping = mmap(NULL, LEDGER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapping == MAP_FAILED) goto failed;
    base = mapping;
    pt_traces_start((uint64_t)getpid());
    header()->layout = LEDGER_LAYOUT;
    header()->pid = (uint64_t)getpid();
    header()->began_at_ns = system_ns(CLOCK_MONOTONIC);
    strncpy(header()->facts, facts, FACTS_BYTES - ZERO_BYTE_AT_END);
    for (int i = 0; i < FIRST_ENTRIES; i++) write_entry((uint32_t)i, first[i].kind, first[i].name, strlen(first[i].name));
    __atomic_store_n(&header()->magic, LEDGER_MAGIC, __ATOMIC_RELEASE);
    if (rename(partial, path)) goto failed;
    return NULL;
failed:
    error = errno ? errno : ENOSPC;
    pt_ledger_close();
    unlink(partial);
    return strerror(error);
}

static uint32_t other_of(enum kind kind)
{
    return kind == KIND_REQUEST ? ENTRY_OTHER_REQUESTS : kind == KIND_JOB ? ENTRY_OTHER_JOBS : ENTRY_OTHER;
}

/* The entry of that kind and name, made when there is none; the others' when the ledger, or its disk, is full. Threads that serve no
 * requests have so many names at most, the last of which is the others': an app may give each a name of its own, and endpoints shall
 * find a place all the same. */
uint32_t pt_ledger_entry(enum kind kind, const char *name, size_t length)
{
    static const char others[] = "(other)";
    uint64_t count;
    struct ledger_entry *entry;
    uint32_t thread_names_count = 0;

    if (!pt_ledger_is_open()) return other_of(kind);
    if (length > NAME_BYTES - ZERO_BYTE_AT_END) length = NAME_BYTES - ZERO_BYTE_AT_END;
    count = header()->entries_count;
    for (uint32_t i = 0; i < count; i++) {
        entry = entry_at(i);
        if (entry->kind == kind && strncmp(entry->name, name, length) == 0 && entry->name[length] == 0) return i;
        thread_names_count += entry->kind == KIND_THREAD;
    }
    if (kind == KIND_THREAD && thread_names_count >= THREAD_NAMES_MAX - 1 && name != others) {
        return pt_ledger_entry(kind, others, sizeof(others) - ZERO_BYTE_AT_END);
    }
    if (count == ENTRIES_MAX || !reserve_entry(count) ||
        ((kind == KIND_REQUEST || kind == KIND_JOB) && !reserve_histograms((uint32_t)count, 1))) {
        header()->unnamed_count++;
        return other_of(kind);
    }
    write_entry((uint32_t)count, kind, name, length);
    return (uint32_t)count;
}

void pt_ledger_add(uint32_t index, const struct closed *closed, bool with_histograms)
{
    struct ledger_entry *entry;

    if (!pt_ledger_is_open()) return;
    if (index >= header()->entries_count) index = ENTRY_OTHER;
    entry = entry_at(index);
    begin_turn(&entry->turn);
    entry->counts[COUNT_ALL]++;
    entry->counts[COUNT_UNACCOUNTED] += closed->unaccounted;
    entry->counts[COUNT_SLICES] += closed->slices_count;
    entry->counts[COUNT_LONG_HOLDS] += closed->long_holds_count;
    entry->counts[COUNT_STAMPED] += closed->sums[SUM_BEFORE_PUMA] > 0;
    entry->counts[COUNT_CYCLES] += closed->cycles_count;
    header()->cycles_count += closed->cycles_count;
    for (int i = 0; i < SUMS; i++) entry->sums[i] += closed->sums[i];
    if (with_histograms && index >= SPECIAL_ENTRIES) {
        for (int i = 0; i < HISTOGRAMS; i++) {
            if (closed->sums[i]) histogram(index, i)[bucket_of(closed->sums[i])]++;
        }
    }
    end_turn(&entry->turn);
}

static bool reserve_traces(uint32_t first, uint32_t count)
{
    uint64_t bytes = count * sizeof(struct ledger_trace);

    if (reserved_traces_bytes + bytes > bytes_max / TRACES_SHARE) return false;
    if (!reserve(TRACES_OFFSET + first * sizeof(struct ledger_trace), bytes)) return false;
    reserved_traces_bytes += bytes;
    return true;
}

/* Keeps a request's steps, if chance will have it. */
void pt_ledger_trace(uint32_t entry, const uint64_t *steps, const struct closed *closed)
{
    uint64_t epoch;
    struct ledger_trace *trace;
    int place;

    if (!pt_ledger_is_open() || entry < SPECIAL_ENTRIES || entry >= header()->entries_count) return;
    epoch = __atomic_load_n(&header()->epoch, __ATOMIC_ACQUIRE);
    place = pt_traces_place(entry, epoch, reserve_traces);
    if (place < 0) return;
    trace = (struct ledger_trace *)(base + TRACES_OFFSET) + place;
    begin_turn(&trace->turn);
    trace->entry = entry;
    trace->epoch = epoch;
    trace->queue_ns = closed->sums[SUM_QUEUE];
    trace->wall_ns = closed->sums[SUM_WALL] - trace->queue_ns;
    trace->cpu_ns = closed->sums[SUM_CPU];
    trace->gc_ns = closed->sums[SUM_GC];
    trace->steps_count = closed->steps_count;
    memcpy(trace->steps, steps, closed->steps_count * sizeof(*steps));
    end_turn(&trace->turn);
    if ((uint64_t)place >= header()->traces_count) header()->traces_count = (uint64_t)place + 1;
}

/* `holder` held the GVL for `ns` of what `waiter` waited. A full table counts the rest for (other). */
void pt_ledger_blame(uint32_t waiter, uint32_t holder, uint64_t ns)
{
    struct blame *blames;

    if (!base || waiter >= header()->entries_count) return;
    blames = entry_at(waiter)->blames;
    for (int i = 1; i < BLAMES_MAX; i++) {
        if (blames[i].ns == 0) blames[i].entry = holder;
        if (blames[i].entry == holder) {
            blames[i].ns += ns;
            return;
        }
    }
    blames[0].ns += ns; /* its entry is 0: ENTRY_OTHER */
}

/* Writes how often the process has collected garbage. */
void pt_ledger_gc_count(uint64_t count)
{
    if (pt_ledger_is_open()) header()->gc_count = count;
}

/* Writes what is known of the process as a whole. */
void pt_ledger_process(uint64_t cpu_ns, uint64_t unobserved_threads_count)
{
    if (!pt_ledger_is_open()) return;
    header()->process_cpu_ns = cpu_ns;
    header()->unobserved_threads_count = unobserved_threads_count;
}

/* False without a ledger, or without memory for the block. */
bool pt_ledger_make_locks(void)
{
    if (!pt_ledger_is_open() || !reserve(LOCKS_OFFSET, sizeof(struct ledger_locks))) return false;
    pt_ledger_locks = (struct ledger_locks *)(base + LOCKS_OFFSET);
    pt_ledger_locks->watched = 1;
    return true;
}

/* Returns the number of the last order for lanes, 0 without any, and how long they are wanted. */
uint64_t pt_ledger_lanes_order(uint64_t *wanted_ns)
{
    uint64_t order = pt_ledger_is_open() ? __atomic_load_n(&header()->lanes_order, __ATOMIC_ACQUIRE) : 0;
    if (order) *wanted_ns = header()->lanes_wanted_ns;
    return order;
}

/* Clears the lanes, and with that touches each of their pages, so that hooks find them there. False without a ledger, or without memory. */
bool pt_ledger_make_lanes(void)
{
    if (!pt_ledger_is_open()) return false;
    if (!pt_ledger_lanes && !reserve(LANES_OFFSET, sizeof(struct ledger_lanes))) return false;
    pt_ledger_lanes = (struct ledger_lanes *)(base + LANES_OFFSET);
    memset(pt_ledger_lanes, 0, sizeof(struct ledger_lanes));
    return true;
}

void pt_ledger_costs(uint64_t per_cycle_ns, uint64_t per_request_ns)
{
    if (!pt_ledger_is_open()) return;
    header()->cost_per_cycle_ns = per_cycle_ns;
    header()->cost_per_request_ns = per_request_ns;
}
