/* SPDX-License-Identifier: Apache-2.0 */
/* The driver keeps one reserve of memory for all graphs of a device. A graph takes from it what its allocation nodes ask
 * for when it is first launched or uploaded; that is when it can be refused. Programs without such nodes pay nothing for
 * this. */
#include "gpu/tenant/compute/graphs.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/protocol/message.h"
#include "gpu/tenant/compute/gate.h"
#include "gpu/tenant/tenant.h"

static atomic_int has_memory;
static struct table execs;  // executable graph: bytes that its nodes ask for; extra: has run since the last trim
static struct lock lock;
static uint64_t charged[GPU_MAX];

void graphs_forget(void)
{
    memset(&lock, 0, sizeof lock);
    memset(charged, 0, sizeof charged);
    table_forget(&execs);
}

void graphs_note_memory(void)
{
    atomic_store_explicit(&has_memory, 1, memory_order_relaxed);
}

static bool settle_slot(int slot)
{
    const struct driver_calls *driver = driver_calls();
    cu_device device = tenant_device(slot);
    uint64_t reserved = 0;
    if (device < 0 || !driver->graph_memory ||
        driver->graph_memory(device, CU_GRAPH_MEMORY_RESERVED_CURRENT, &reserved) != CU_SUCCESS)
        return false;
    lock_take(&lock);
    uint64_t before = charged[slot];
    charged[slot] = reserved;
    lock_give(&lock);
    if (reserved > before)
        (void)ledger_force(slot, reserved - before);
    else if (reserved < before)
        ledger_release(slot, LEDGER_PLAIN, before - reserved);
    return reserved < before;
}

bool graphs_settle(void)
{
    bool has_gained = false;
    if (!atomic_load_explicit(&has_memory, memory_order_relaxed))
        return false;
    for (int slot = 0; slot < GPU_MAX; slot++)
        has_gained |= tenant_device(slot) >= 0 && settle_slot(slot);
    return has_gained;
}

static void mark_cold(const struct entry *entry, void *context)
{
    (void)context;
    struct entry cold = *entry;
    cold.extra = 0;
    (void)table_put(&execs, &cold);
}

bool graphs_trim(int slot)
{
    const struct driver_calls *driver = driver_calls();
    if (!atomic_load_explicit(&has_memory, memory_order_relaxed) || !driver->graph_trim)
        return false;
    (void)driver->graph_trim(tenant_device(slot));
    table_each(&execs, mark_cold, NULL);
    return settle_slot(slot);
}

enum { GRAPHS_DEEP = 8 };

/* The sum over the allocation nodes of a graph, and of the graphs in it so many levels down. */
static uint64_t memory_of(void *graph, int levels)
{
    const struct driver_calls *driver = driver_calls();
    size_t count = 0;
    uint64_t sum = 0;
    if (!driver->graph_nodes || !driver->node_type || !driver->alloc_node ||
        driver->graph_nodes(graph, NULL, &count) != CU_SUCCESS || count == 0)
        return 0;
    size_t size = count * sizeof(void *);
    void **nodes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (nodes == MAP_FAILED)
        return 0;
    if (driver->graph_nodes(graph, nodes, &count) != CU_SUCCESS)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        int type;
        struct cu_mem_alloc_node node;
        void *child;
        if (driver->node_type(nodes[i], &type) != CU_SUCCESS)
            continue;
        if (type == CU_NODE_MEM_ALLOC && driver->alloc_node(nodes[i], &node) == CU_SUCCESS)
            sum += node.bytes;
        else if (type == CU_NODE_GRAPH && levels > 0 && driver->child_graph &&
                 driver->child_graph(nodes[i], &child) == CU_SUCCESS)
            sum += memory_of(child, levels - 1);
    }
    munmap(nodes, size);
    return sum;
}

static void made(cu_result result, void *const *ret_exec, void *graph)
{
    if (result != CU_SUCCESS || !ret_exec || !atomic_load_explicit(&has_memory, memory_order_relaxed))
        return;
    uint64_t bytes = memory_of(graph, GRAPHS_DEEP);
    struct entry entry = {.key = (uint64_t)(uintptr_t)*ret_exec, .bytes = bytes};
    if (bytes > 0)
        (void)table_put(&execs, &entry);
    (void)graphs_settle();
}

int on_graph_add_alloc(graph_add_alloc_fn *real, void **ret_node, void *graph, void *const *before, size_t count,
                       struct cu_mem_alloc_node *node)
{
    graphs_note_memory();
    return real(ret_node, graph, before, count, node);
}

int on_graph_add(graph_add_fn *real, void **ret_node, void *graph, void *const *before, size_t count,
                 struct cu_node_params *node)
{
    if (node && node->type == CU_NODE_MEM_ALLOC)
        graphs_note_memory();
    return real(ret_node, graph, before, count, node);
}

int on_graph_add_v2(graph_add_v2_fn *real, void **ret_node, void *graph, void *const *before, const void *edges,
                    size_t count, struct cu_node_params *node)
{
    if (node && node->type == CU_NODE_MEM_ALLOC)
        graphs_note_memory();
    return real(ret_node, graph, before, edges, count, node);
}

int on_graph_make(graph_make_fn *real, void **ret_exec, void *graph, void **ret_node, char *log, size_t size)
{
    cu_result result = real(ret_exec, graph, ret_node, log, size);
    made(result, ret_exec, graph);
    return result;
}

int on_graph_make_flags(graph_make_flags_fn *real, void **ret_exec, void *graph, unsigned long long flags)
{
    cu_result result = real(ret_exec, graph, flags);
    made(result, ret_exec, graph);
    return result;
}

int on_graph_make_params(graph_make_params_fn *real, void **ret_exec, void *graph, void *params)
{
    cu_result result = real(ret_exec, graph, params);
    made(result, ret_exec, graph);
    return result;
}

/* Before a graph runs: false when its memory does not fit. */
static bool begin(struct charge *charge, void *exec)
{
    struct entry entry;
    *charge = (struct charge){.slot = -1};
    if (!atomic_load_explicit(&has_memory, memory_order_relaxed) ||
        !table_get(&execs, (uint64_t)(uintptr_t)exec, &entry) || entry.extra)
        return true;
    return charge_begin_current(charge, entry.bytes);
}

/* What it really took is known afterwards; what was taken from the account for it goes back before that is charged, so
 * that nothing is counted twice. */
static void end(const struct charge *charge, cu_result result, void *exec)
{
    struct entry entry;
    if (charge->slot < 0)
        return;
    ledger_release(charge->slot, LEDGER_PLAIN, charge->bytes);
    (void)settle_slot(charge->slot);
    if (result == CU_SUCCESS && table_get(&execs, (uint64_t)(uintptr_t)exec, &entry)) {
        entry.extra = 1;
        (void)table_put(&execs, &entry);
    }
}

int on_graph_upload(graph_upload_fn *real, void *exec, void *stream)
{
    struct charge charge;
    if (!begin(&charge, exec))
        return CU_OUT_OF_MEMORY;
    cu_result result = real(exec, stream);
    end(&charge, result, exec);
    return result;
}

int on_graph_launch(graph_launch_fn *real, void *exec, void *stream)
{
    struct charge charge;
    struct gate_pass pass;
    if (!begin(&charge, exec))
        return CU_OUT_OF_MEMORY;
    gate_enter(&pass, exec, tenant_stream((void *)real, HOOK_cuGraphLaunch_ptsz, stream));
    cu_result result = real(exec, stream);
    gate_leave(&pass, result);
    end(&charge, result, exec);
    return result;
}

int on_graph_exec_destroy(graph_exec_destroy_fn *real, void *exec)
{
    struct entry entry;
    bool is_known = table_take(&execs, (uint64_t)(uintptr_t)exec, &entry);
    cu_result result = real(exec);
    if (is_known && result == CU_SUCCESS)
        (void)graphs_settle();
    else if (is_known)
        (void)table_put(&execs, &entry);
    return result;
}

int on_graph_trim(graph_trim_fn *real, cu_device device)
{
    cu_result result = real(device);
    if (result == CU_SUCCESS && atomic_load_explicit(&has_memory, memory_order_relaxed)) {
        table_each(&execs, mark_cold, NULL);
        (void)graphs_settle();
    }
    return result;
}
