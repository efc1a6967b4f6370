/* Runs platform_darwin.h against a Mach of three threads, of which the second has ended, and says what came of it. */
#include "platform.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <signal.h>

mach_port_t mach_task_self_ = 1;
static unsigned ports_count, freed_bytes;

kern_return_t task_threads(task_inspect_t task, thread_act_array_t *threads, mach_msg_type_number_t *count)
{
    *count = ports_count = 3;
    *threads = calloc(*count, sizeof(**threads));
    for (unsigned i = 0; i < *count; i++) (*threads)[i] = 101 + i;
    return KERN_SUCCESS;
}

kern_return_t thread_info(thread_inspect_t thread, thread_flavor_t flavor, thread_info_t info, mach_msg_type_number_t *count)
{
    unsigned wanted = flavor == THREAD_BASIC_INFO ? THREAD_BASIC_INFO_COUNT : THREAD_IDENTIFIER_INFO_COUNT;

    if (thread == 102 || *count != wanted) return 1;
    if (flavor == THREAD_BASIC_INFO) *(struct thread_basic_info *)info = (struct thread_basic_info){{(int)thread, 5}, {1000, 7}, 0, 0, 0, 0, 0, 0};
    else *(struct thread_identifier_info *)info = (struct thread_identifier_info){thread * (1ull << 32), 0, 0};
    return KERN_SUCCESS;
}

kern_return_t mach_port_deallocate(ipc_space_t task, mach_port_name_t name)
{
    ports_count--;
    return KERN_SUCCESS;
}

kern_return_t vm_deallocate(vm_map_t task, vm_address_t address, vm_size_t size)
{
    freed_bytes += (unsigned)size;
    free((void *)address);
    return KERN_SUCCESS;
}

uint64_t clock_gettime_nsec_np(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock == CLOCK_UPTIME_RAW ? CLOCK_MONOTONIC : clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int count, char **words)
{
    struct rlimit limit = {200000, 200000};
    int file = open(words[1], O_RDWR | O_CREAT, 0600);

    for (uint64_t thread = 101; thread <= 104; thread++) {
        printf("%llu ", (unsigned long long)cpu_ns_of((int64_t)(thread << 32)));
        printf("%u ports and %u bytes left\n", ports_count, 3 * (unsigned)sizeof(thread_act_t) - freed_bytes);
        freed_bytes = 0;
    }
    printf("%llu for none\n", (unsigned long long)cpu_ns_of(0));
    if (system_ns(HOOK_CLOCK) > system_ns(HOOK_CLOCK) || thread_cpu_ns() == 0) return 1;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    printf("%d ", reserve_space(file, 100, 150000));
    printf("%d ", reserve_space(file, 150100, 100000));
    printf("of %lld\n", (long long)lseek(file, 0, SEEK_END));
    return 0;
}
