/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The real driver behind us: where its functions are, and which of ours stands in front of which of them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/tenant/hooks.h"

/* What the driver's files are called where our own library has taken their names (door A). They still carry their old
 * names inside; being dependencies of ours they are found all the same, and everything that we do not hook falls
 * through to them. */
#define DRIVER_CUDA_RENAMED "libmuster-driver-cuda.so.1"
#define DRIVER_NVML_RENAMED "libmuster-driver-nvml.so.1"

/* Whether our library stands in the driver's place, as it does in containers. */
bool driver_is_renamed(void);

/* The real function of a row; NULL when this driver has none, or there is no driver. */
void *driver_real(enum hook hook);

/* Looks any other function of NVML up, by its exact name. NULL when it has none. */
void *driver_find_nvml(const char *name);

/* A function of the C library that lies in a library of its own in older ones: as the program sees it, or else as the
 * driver does, which needs it too. */
void *driver_find_common(const char *name);

/* Our function in front of this real one; the pointer itself when we do not hook it. A pointer says exactly which binary
 * variant it is, whatever rules the driver has for names, versions and flags. */
void *driver_swap(void *function);

/* The row of a name, or -1. */
int driver_hook_of(const char *name);
const char *driver_hook_name(enum hook hook);

/* Our exported function of a row, and whether a function is one of them. */
void *driver_export(enum hook hook);
bool driver_is_export(const void *function);

/* The C library's own dlsym, never one that somebody put in front of it. */
typedef void *dlsym_fn(void *handle, const char *name);
dlsym_fn *driver_dlsym(void);

/* Driver functions that we call and do not hook, found once. Each may be NULL on an old driver. */
struct driver_calls {
    cu_result (*ctx_get_current)(void **ret_ctx);
    cu_result (*ctx_get_device)(cu_device *ret_device);
    cu_result (*ctx_push)(void *ctx);
    cu_result (*ctx_pop)(void **ret_ctx);
    cu_result (*ctx_of_green)(void **ret_ctx, void *green);
    cu_result (*device_get_count)(int *ret_count);
    cu_result (*device_get_uuid)(struct cu_uuid *ret_uuid, cu_device device);
    cu_result (*primary_get_state)(cu_device device, unsigned *ret_flags, int *ret_active);
    cu_result (*default_pool)(void **ret_pool, cu_device device);
    cu_result (*default_pool_at)(void **ret_pool, struct cu_location *location, int allocation_type);
    cu_result (*current_pool)(void **ret_pool, cu_device device);
    cu_result (*pool_get)(void *pool, int attribute, void *ret_value);
    cu_result (*pool_trim)(void *pool, size_t keep);
    cu_result (*pool_free)(cu_address address, void *stream);
    cu_result (*graph_memory)(cu_device device, int attribute, void *ret_value);
    cu_result (*graph_trim)(cu_device device);
    cu_result (*graph_nodes)(void *graph, void **nodes, size_t *count);
    cu_result (*node_type)(void *node, int *ret_type);
    cu_result (*child_graph)(void *node, void **ret_graph);
    cu_result (*alloc_node)(void *node, struct cu_mem_alloc_node *ret_params);
    cu_result (*is_capturing)(void *stream, int *ret_status);
    cu_result (*stream_device)(void *stream, cu_device *ret_device);
    cu_result (*capture_mode)(int *mode);
    cu_result (*address_reserve)(cu_address *ret_address, size_t bytes, size_t alignment, cu_address wish,
                                 unsigned long long flags);
    cu_result (*address_free)(cu_address address, size_t bytes);
    cu_result (*set_access)(cu_address address, size_t bytes, const struct cu_access *access, size_t count);
    cu_result (*event_create)(void **ret_event, unsigned flags);
    cu_result (*event_record)(void *event, void *stream);
    cu_result (*event_query)(void *event);
    cu_result (*event_elapsed)(float *ret_ms, void *begin, void *end);
    cu_result (*event_destroy)(void *event);
};
const struct driver_calls *driver_calls(void);
