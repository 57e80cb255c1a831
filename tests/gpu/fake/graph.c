/* SPDX-License-Identifier: Apache-2.0 */
/* Capture and graphs. A graph with allocation nodes takes their memory from a reserve of the device when it is first
 * launched; the reserve shrinks when it is trimmed and no such graph is left. */
#include <string.h>

#include "exports.h"

enum { CAPTURE_MODE_GLOBAL = 0 };

static uint64_t graph_reserved[FAKE_GPUS];

FAKE_EXPORT cu_result cuStreamIsCapturing(void *handle, int *ret_status)
{
    BEGIN(cuStreamIsCapturing);
    fake_lock();
    struct fake_object *stream = fake_stream(handle);
    if (stream && ret_status)
        *ret_status = stream->capture;
    fake_unlock();
    return stream && ret_status ? CU_SUCCESS : CU_INVALID_HANDLE;
}

/* Captures for whose time other threads may not ask the device anything, unless they have said that they know. */
static int strict_captures;
static __thread int thread_mode;

void fake_ask_device(void)
{
    if (strict_captures == 0 || thread_mode != CAPTURE_MODE_GLOBAL)
        return;
    for (struct fake_object *stream = fake_objects; stream; stream = stream->next) {
        if (stream->kind == FAKE_STREAM && stream->capture)
            stream->capture = CU_CAPTURE_INVALIDATED;
    }
}

static cu_result begin_capture(void *handle, void *graph_handle, int mode)
{
    fake_lock();
    struct fake_object *stream = fake_stream(handle);
    bool is_fine = stream && !stream->capture && handle && handle != CU_STREAM_LEGACY;
    if (is_fine) {
        stream->capture = CU_CAPTURE_ACTIVE;
        stream->is_strict = mode == CAPTURE_MODE_GLOBAL;
        strict_captures += stream->is_strict;
        stream->graph = graph_handle ? fake_get(graph_handle, FAKE_GRAPH) : fake_new(FAKE_GRAPH, stream->gpu);
    }
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

#define BEGIN_CAPTURE(name, mode, ...)            \
    FAKE_EXPORT cu_result name(__VA_ARGS__)       \
    {                                             \
        BEGIN(name);                              \
        return begin_capture(stream, NULL, mode); \
    }

BEGIN_CAPTURE(cuStreamBeginCapture, CAPTURE_MODE_GLOBAL, void *stream)
BEGIN_CAPTURE(cuStreamBeginCapture_ptsz, CAPTURE_MODE_GLOBAL, void *stream)
BEGIN_CAPTURE(cuStreamBeginCapture_v2, mode, void *stream, int mode)
BEGIN_CAPTURE(cuStreamBeginCapture_v2_ptsz, mode, void *stream, int mode)

FAKE_EXPORT cu_result cuStreamBeginCaptureToGraph(PARAMS_capture_into)
{
    BEGIN(cuStreamBeginCaptureToGraph);
    (void)before, (void)edges, (void)count;
    return begin_capture(stream, graph, mode);
}

FAKE_EXPORT cu_result cuStreamBeginCaptureToGraph_ptsz(PARAMS_capture_into)
{
    BEGIN(cuStreamBeginCaptureToGraph_ptsz);
    (void)before, (void)edges, (void)count;
    return begin_capture(stream, graph, mode);
}

#define CAPTURE_MORE(name, shape)              \
    FAKE_EXPORT cu_result name(PARAMS_##shape) \
    {                                          \
        BEGIN(name);                           \
        return begin_##shape(ARGS_##shape);    \
    }

static cu_result begin_capture_again(PARAMS_capture_again)
{
    (void)data;
    return callback ? begin_capture(stream, graph, mode) : CU_INVALID_VALUE;
}

static cu_result begin_capture_graphics(PARAMS_capture_graphics)
{
    return params ? begin_capture(stream, NULL, CAPTURE_MODE_GLOBAL) : CU_INVALID_VALUE;
}

CAPTURE_MORE(cuStreamBeginRecaptureToGraph, capture_again)
CAPTURE_MORE(cuStreamBeginRecaptureToGraph_ptsz, capture_again)
CAPTURE_MORE(cuStreamBeginCaptureToCig, capture_graphics)
CAPTURE_MORE(cuStreamBeginCaptureToCig_ptsz, capture_graphics)

static cu_result end_capture(void *handle, void **ret_graph)
{
    fake_lock();
    struct fake_object *stream = fake_stream(handle);
    bool is_fine = stream && stream->capture && ret_graph;
    bool is_spoilt = is_fine && stream->capture == CU_CAPTURE_INVALIDATED;
    if (is_fine) {
        *ret_graph = is_spoilt ? NULL : stream->graph;
        strict_captures -= stream->is_strict;
        stream->capture = CU_CAPTURE_NONE;
        stream->graph = NULL;
    }
    fake_unlock();
    return is_spoilt ? CU_STREAM_CAPTURE_INVALIDATED : is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuStreamEndCapture(void *stream, void **ret_graph)
{
    BEGIN(cuStreamEndCapture);
    return end_capture(stream, ret_graph);
}

FAKE_EXPORT cu_result cuStreamEndCapture_ptsz(void *stream, void **ret_graph)
{
    BEGIN(cuStreamEndCapture_ptsz);
    return end_capture(stream ? stream : CU_STREAM_PER_THREAD, ret_graph);
}

FAKE_EXPORT cu_result cuThreadExchangeStreamCaptureMode(int *mode)
{
    BEGIN(cuThreadExchangeStreamCaptureMode);
    if (!mode)
        return CU_INVALID_VALUE;
    int before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuGraphCreate(void **ret_graph, unsigned flags)
{
    BEGIN(cuGraphCreate);
    (void)flags;
    if (!ret_graph)
        return CU_INVALID_VALUE;
    fake_lock();
    *ret_graph = fake_new(FAKE_GRAPH, 0);
    fake_unlock();
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuGraphDestroy(void *handle)
{
    BEGIN(cuGraphDestroy);
    fake_lock();
    struct fake_object *graph = fake_get(handle, FAKE_GRAPH);
    if (graph)
        graph->is_dead = true;
    fake_unlock();
    return graph ? CU_SUCCESS : CU_INVALID_VALUE;
}

struct fake_object *fake_add_alloc_node(struct fake_object *graph, uint64_t bytes)
{
    struct fake_object *node = fake_new(FAKE_NODE, graph->gpu);
    node->owner = graph;
    node->type = CU_NODE_MEM_ALLOC;
    node->bytes = bytes;
    return node;
}

static cu_result add_alloc(void **ret_node, void *graph_handle, struct cu_mem_alloc_node *params)
{
    fake_lock();
    struct fake_object *graph = fake_get(graph_handle, FAKE_GRAPH);
    bool is_fine = graph && ret_node && params && params->bytes > 0;
    if (is_fine) {
        *ret_node = fake_add_alloc_node(graph, params->bytes);
        params->address = fake_new_address(params->bytes);
    }
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuGraphAddMemAllocNode(PARAMS_graph_add_alloc)
{
    BEGIN(cuGraphAddMemAllocNode);
    (void)before, (void)count;
    return add_alloc(ret_node, graph, node);
}

FAKE_EXPORT cu_result cuGraphAddNode(PARAMS_graph_add)
{
    BEGIN(cuGraphAddNode);
    (void)before, (void)count;
    return node && node->type == CU_NODE_MEM_ALLOC ? add_alloc(ret_node, graph, &node->alloc) : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuGraphAddNode_v2(PARAMS_graph_add_v2)
{
    BEGIN(cuGraphAddNode_v2);
    (void)before, (void)edges, (void)count;
    return node && node->type == CU_NODE_MEM_ALLOC ? add_alloc(ret_node, graph, &node->alloc) : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuGraphAddNode_v3(PARAMS_graph_add_v2)
{
    BEGIN(cuGraphAddNode_v3);
    (void)before, (void)edges, (void)count;
    return node && node->type == CU_NODE_MEM_ALLOC ? add_alloc(ret_node, graph, &node->alloc) : CU_INVALID_VALUE;
}

/* The child's nodes stay its own; the node leads to them. */
FAKE_EXPORT cu_result cuGraphAddChildGraphNode(void **ret_node, void *graph_handle, void *const *before, size_t count,
                                               void *child_handle)
{
    BEGIN(cuGraphAddChildGraphNode);
    (void)before, (void)count;
    fake_lock();
    struct fake_object *graph = fake_get(graph_handle, FAKE_GRAPH), *child = fake_get(child_handle, FAKE_GRAPH);
    bool is_fine = graph && child && ret_node;
    if (is_fine) {
        struct fake_object *node = fake_new(FAKE_NODE, graph->gpu);
        node->owner = graph;
        node->type = CU_NODE_GRAPH;
        node->graph = child;
        *ret_node = node;
    }
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuGraphChildGraphNodeGetGraph(void *handle, void **ret_graph)
{
    BEGIN(cuGraphChildGraphNodeGetGraph);
    fake_lock();
    struct fake_object *node = fake_get(handle, FAKE_NODE);
    bool is_fine = node && node->type == CU_NODE_GRAPH && ret_graph;
    if (is_fine)
        *ret_graph = node->graph;
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuGraphGetNodes(void *handle, void **nodes, size_t *count)
{
    BEGIN(cuGraphGetNodes);
    size_t found = 0;
    fake_lock();
    struct fake_object *graph = fake_get(handle, FAKE_GRAPH);
    for (struct fake_object *node = fake_objects; graph && count && node; node = node->next) {
        if (node->kind != FAKE_NODE || node->owner != graph)
            continue;
        if (nodes && found < *count)
            nodes[found] = node;
        found++;
    }
    if (graph && count)
        *count = found;
    fake_unlock();
    return graph && count ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuGraphNodeGetType(void *handle, int *ret_type)
{
    BEGIN(cuGraphNodeGetType);
    fake_lock();
    struct fake_object *node = fake_get(handle, FAKE_NODE);
    if (node && ret_type)
        *ret_type = node->type;
    fake_unlock();
    return node && ret_type ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuGraphMemAllocNodeGetParams(void *handle, struct cu_mem_alloc_node *ret_params)
{
    BEGIN(cuGraphMemAllocNodeGetParams);
    fake_lock();
    struct fake_object *node = fake_get(handle, FAKE_NODE);
    if (node && ret_params)
        *ret_params = (struct cu_mem_alloc_node){.bytes = node->bytes};
    fake_unlock();
    return node && ret_params ? CU_SUCCESS : CU_INVALID_VALUE;
}

static cu_result instantiate(void **ret_exec, void *graph_handle)
{
    fake_lock();
    struct fake_object *graph = fake_get(graph_handle, FAKE_GRAPH);
    bool is_fine = graph && ret_exec;
    if (is_fine) {
        struct fake_object *exec = fake_new(FAKE_EXEC, graph->gpu);
        exec->owner = graph;
        *ret_exec = exec;
    }
    fake_unlock();
    return is_fine ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuGraphInstantiate(PARAMS_graph_make)
{
    BEGIN(cuGraphInstantiate);
    (void)ret_node, (void)log, (void)size;
    return instantiate(ret_exec, graph);
}

FAKE_EXPORT cu_result cuGraphInstantiate_v2(PARAMS_graph_make)
{
    BEGIN(cuGraphInstantiate_v2);
    (void)ret_node, (void)log, (void)size;
    return instantiate(ret_exec, graph);
}

FAKE_EXPORT cu_result cuGraphInstantiateWithFlags(PARAMS_graph_make_flags)
{
    BEGIN(cuGraphInstantiateWithFlags);
    (void)flags;
    return instantiate(ret_exec, graph);
}

FAKE_EXPORT cu_result cuGraphInstantiateWithParams(PARAMS_graph_make_params)
{
    BEGIN(cuGraphInstantiateWithParams);
    (void)params;
    return instantiate(ret_exec, graph);
}

FAKE_EXPORT cu_result cuGraphInstantiateWithParams_ptsz(PARAMS_graph_make_params)
{
    BEGIN(cuGraphInstantiateWithParams_ptsz);
    (void)params;
    return instantiate(ret_exec, graph);
}

/* What the nodes of a graph take, and those of the graphs in it. */
static void add_up(const struct fake_object *graph, uint64_t *bytes, int64_t *ns)
{
    for (struct fake_object *node = fake_objects; node; node = node->next) {
        if (node->kind != FAKE_NODE || node->owner != graph)
            continue;
        if (node->type == CU_NODE_MEM_ALLOC)
            *bytes += fake_rounded(node->bytes);
        else if (node->type == CU_NODE_KERNEL)
            *ns += (int64_t)node->bytes;
        else if (node->type == CU_NODE_GRAPH)
            add_up(node->graph, bytes, ns);
    }
}

static cu_result count_in(const struct fake_object *graph)
{
    cu_result result = CU_SUCCESS;
    for (struct fake_object *node = fake_objects; node && result == CU_SUCCESS; node = node->next) {
        if (node->kind == FAKE_NODE && node->owner == graph && node->type == CU_NODE_KERNEL && node->used)
            result = fake_add_one(node->used);
    }
    return result;
}

/* Runs an executable graph, or only makes it ready. */
static cu_result use(void *handle, void *stream_handle, bool runs)
{
    cu_result result = CU_SUCCESS;
    fake_lock();
    struct fake_object *exec = fake_get(handle, FAKE_EXEC);
    struct fake_object *stream = fake_stream(stream_handle);
    uint64_t bytes = 0;
    int64_t ns = 0;
    if (exec)
        add_up(exec->owner, &bytes, &ns);
    if (!exec || !stream) {
        result = CU_INVALID_HANDLE;
    } else if (!exec->has_memory && bytes > 0) {
        if (fake_take(exec->gpu, bytes)) {
            graph_reserved[exec->gpu] += bytes;
            exec->bytes = bytes;
            exec->has_memory = true;
        } else {
            result = CU_OUT_OF_MEMORY;
        }
    }
    if (result == CU_SUCCESS && runs)
        result = count_in(exec->owner);
    if (result == CU_SUCCESS && runs)
        fake_run(stream, ns ? ns : 1000);
    fake_unlock();
    return result;
}

FAKE_EXPORT cu_result cuGraphUpload(void *exec, void *stream)
{
    BEGIN(cuGraphUpload);
    return use(exec, stream, false);
}

FAKE_EXPORT cu_result cuGraphUpload_ptsz(void *exec, void *stream)
{
    BEGIN(cuGraphUpload_ptsz);
    return use(exec, stream ? stream : CU_STREAM_PER_THREAD, false);
}

FAKE_EXPORT cu_result cuGraphLaunch(void *exec, void *stream)
{
    BEGIN(cuGraphLaunch);
    return use(exec, stream, true);
}

FAKE_EXPORT cu_result cuGraphLaunch_ptsz(void *exec, void *stream)
{
    BEGIN(cuGraphLaunch_ptsz);
    return use(exec, stream ? stream : CU_STREAM_PER_THREAD, true);
}

FAKE_EXPORT cu_result cuGraphExecDestroy(void *handle)
{
    BEGIN(cuGraphExecDestroy);
    fake_lock();
    struct fake_object *exec = fake_get(handle, FAKE_EXEC);
    if (exec)
        fake_delete(exec);
    fake_unlock();
    return exec ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuDeviceGraphMemTrim(cu_device device)
{
    BEGIN(cuDeviceGraphMemTrim);
    if (device < 0 || device >= fake_state()->gpu_count)
        return CU_INVALID_DEVICE;
    fake_lock();
    uint64_t kept = 0;
    for (struct fake_object *exec = fake_objects; exec; exec = exec->next) {
        if (exec->kind == FAKE_EXEC && exec->gpu == device && exec->has_memory)
            kept += exec->bytes;
    }
    fake_give(device, graph_reserved[device] - kept);
    graph_reserved[device] = kept;
    fake_unlock();
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuDeviceGetGraphMemAttribute(cu_device device, int attribute, void *ret_value)
{
    BEGIN(cuDeviceGetGraphMemAttribute);
    if (device < 0 || device >= fake_state()->gpu_count || !ret_value)
        return CU_INVALID_VALUE;
    fake_lock();
    uint64_t value = attribute == CU_GRAPH_MEMORY_RESERVED_CURRENT ? graph_reserved[device] : 0;
    fake_unlock();
    memcpy(ret_value, &value, sizeof value);
    return CU_SUCCESS;
}
