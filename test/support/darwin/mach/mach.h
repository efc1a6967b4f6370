/* Of Darwin's header, what the probe uses, with the types and values that it has there. */
#pragma once
#include <stdint.h>

typedef int kern_return_t, integer_t, policy_t;
typedef unsigned int natural_t, mach_port_t, mach_msg_type_number_t, thread_flavor_t;
typedef mach_port_t task_t, task_inspect_t, thread_act_t, thread_inspect_t, ipc_space_t, vm_map_t, mach_port_name_t;
typedef thread_act_t *thread_act_array_t;
typedef integer_t *thread_info_t;
typedef uintptr_t vm_address_t, vm_size_t;
typedef struct time_value { integer_t seconds, microseconds; } time_value_t;

#define KERN_SUCCESS 0
#define THREAD_BASIC_INFO 3
#define THREAD_IDENTIFIER_INFO 4

struct thread_basic_info {
    time_value_t user_time, system_time;
    integer_t cpu_usage;
    policy_t policy;
    integer_t run_state, flags, suspend_count, sleep_time;
};
typedef struct thread_basic_info thread_basic_info_data_t;
#define THREAD_BASIC_INFO_COUNT ((mach_msg_type_number_t)(sizeof(thread_basic_info_data_t) / sizeof(natural_t)))

struct thread_identifier_info { uint64_t thread_id, thread_handle, dispatch_qaddr; };
typedef struct thread_identifier_info thread_identifier_info_data_t;
#define THREAD_IDENTIFIER_INFO_COUNT ((mach_msg_type_number_t)(sizeof(thread_identifier_info_data_t) / sizeof(natural_t)))

extern mach_port_t mach_task_self_;
#define mach_task_self() mach_task_self_
kern_return_t task_threads(task_inspect_t task, thread_act_array_t *threads, mach_msg_type_number_t *count);
kern_return_t thread_info(thread_inspect_t thread, thread_flavor_t flavor, thread_info_t info, mach_msg_type_number_t *count);
kern_return_t mach_port_deallocate(ipc_space_t task, mach_port_name_t name);
kern_return_t vm_deallocate(vm_map_t task, vm_address_t address, vm_size_t size);
