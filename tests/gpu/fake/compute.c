/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events and kernels. Work is an interval: it begins when the stream and the device are free, device time being
 * shared with all other processes, and ends after as long as the kernel says. A kernel named spin_us takes as many
 * microseconds as its first parameter says; any other takes five. One named wait_word ends when the word that its first
 * parameter names is not zero, and one named set_word makes it so. One named add_one counts the word of eight bytes at the
 * device address that its first parameter is, at once when it is launched, by itself or in a graph. */
#include <string.h>
#include <time.h>

#include "exports.h"

static struct fake_object *defaults[FAKE_GPUS];
static __thread struct fake_object *own[FAKE_GPUS];

struct fake_object *fake_stream(void *handle)
{
    struct fake_object *ctx = fake_current();
    if (handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD)
        return fake_get(handle, FAKE_STREAM);
    if (!ctx)
        return NULL;
    struct fake_object **place = handle == CU_STREAM_PER_THREAD ? &own[ctx->gpu] : &defaults[ctx->gpu];
    if (!*place)
        *place = fake_new(FAKE_STREAM, ctx->gpu);
    return *place;
}

FAKE_EXPORT cu_result cuStreamCreate(void **ret_stream, unsigned flags)
{
    BEGIN(cuStreamCreate);
    (void)flags;
    fake_lock();
    struct fake_object *ctx = fake_current();
    if (ctx && ret_stream)
        *ret_stream = fake_new(FAKE_STREAM, ctx->gpu);
    fake_unlock();
    return !ctx ? CU_INVALID_CONTEXT : ret_stream ? CU_SUCCESS : CU_INVALID_VALUE;
}

static cu_result destroy_stream(void *handle)
{
    fake_lock();
    struct fake_object *stream = fake_get(handle, FAKE_STREAM);
    if (stream)
        fake_delete(stream);
    fake_unlock();
    return stream ? CU_SUCCESS : CU_INVALID_HANDLE;
}

FAKE_EXPORT cu_result cuStreamDestroy(void *stream)
{
    BEGIN(cuStreamDestroy);
    return destroy_stream(stream);
}

FAKE_EXPORT cu_result cuStreamDestroy_v2(void *stream)
{
    BEGIN(cuStreamDestroy_v2);
    return destroy_stream(stream);
}

FAKE_EXPORT cu_result cuStreamGetDevice(void *handle, cu_device *ret_device)
{
    BEGIN(cuStreamGetDevice);
    fake_lock();
    struct fake_object *stream = fake_stream(handle);
    if (stream && ret_device)
        *ret_device = stream->gpu;
    fake_unlock();
    return stream && ret_device ? CU_SUCCESS : CU_INVALID_HANDLE;
}

/* Whether no kernel before it waits for a word. */
static bool is_let_go(const struct fake_object *object)
{
    return !object->word || atomic_load(object->word) != 0;
}

static void wait_until(int64_t end)
{
    for (int64_t now = fake_now_ns(); now < end; now = fake_now_ns()) {
        struct timespec pause = {(end - now) / 1000000000, (end - now) % 1000000000};
        nanosleep(&pause, NULL);
    }
}

static cu_result synchronize(void *handle)
{
    fake_lock();
    struct fake_object *stream = fake_stream(handle);
    int64_t end = stream ? stream->tail_ns : 0;
    int gpu = stream ? stream->gpu : 0;
    bool is_capturing = stream && stream->capture;
    fake_unlock();
    if (!stream)
        return CU_INVALID_HANDLE;
    if (is_capturing)
        return CU_STREAM_CAPTURE_UNSUPPORTED;
    while (!is_let_go(stream))
        wait_until(fake_now_ns() + 1000000);
    wait_until(end);
    fake_lock();
    fake_pools_release(gpu);
    fake_unlock();
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuStreamSynchronize(void *stream)
{
    BEGIN(cuStreamSynchronize);
    return synchronize(stream);
}

FAKE_EXPORT cu_result cuStreamSynchronize_ptsz(void *stream)
{
    BEGIN(cuStreamSynchronize_ptsz);
    return synchronize(stream ? stream : CU_STREAM_PER_THREAD);
}

static cu_result synchronize_context(struct fake_object *ctx)
{
    int64_t end = 0;
    if (!ctx)
        return CU_INVALID_CONTEXT;
    fake_lock();
    for (struct fake_object *stream = fake_objects; stream; stream = stream->next) {
        if (stream->kind == FAKE_STREAM && stream->gpu == ctx->gpu && stream->tail_ns > end)
            end = stream->tail_ns;
    }
    fake_unlock();
    wait_until(end);
    fake_lock();
    fake_pools_release(ctx->gpu);
    fake_unlock();
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuCtxSynchronize(void *nothing)
{
    BEGIN(cuCtxSynchronize);
    (void)nothing;
    fake_lock();
    struct fake_object *ctx = fake_current();
    fake_unlock();
    return synchronize_context(ctx);
}

FAKE_EXPORT cu_result cuCtxSynchronize_v2(void *handle)
{
    BEGIN(cuCtxSynchronize_v2);
    fake_lock();
    struct fake_object *ctx = handle ? fake_get(handle, FAKE_CONTEXT) : fake_current();
    fake_unlock();
    return synchronize_context(ctx);
}

FAKE_EXPORT cu_result cuStreamQuery(void *handle)
{
    BEGIN(cuStreamQuery);
    fake_lock();
    struct fake_object *stream = fake_stream(handle);
    cu_result result = !stream ? CU_INVALID_HANDLE : fake_now_ns() < stream->tail_ns ? CU_NOT_READY : CU_SUCCESS;
    fake_unlock();
    return result;
}

FAKE_EXPORT cu_result cuEventCreate(void **ret_event, unsigned flags)
{
    BEGIN(cuEventCreate);
    (void)flags;
    fake_lock();
    struct fake_object *ctx = fake_current();
    if (ctx && ret_event)
        *ret_event = fake_new(FAKE_EVENT, ctx->gpu);
    fake_unlock();
    return !ctx ? CU_INVALID_CONTEXT : ret_event ? CU_SUCCESS : CU_INVALID_VALUE;
}

/* An event on a capturing stream becomes part of the graph, which a test can see by the number of its nodes. */
FAKE_EXPORT cu_result cuEventRecord(void *handle, void *stream_handle)
{
    BEGIN(cuEventRecord);
    fake_lock();
    struct fake_object *event = fake_get(handle, FAKE_EVENT);
    struct fake_object *stream = fake_stream(stream_handle);
    if (event && stream && stream->capture) {
        struct fake_object *node = fake_new(FAKE_NODE, stream->gpu);
        node->owner = stream->graph;
        node->type = 6;
    } else if (event && stream) {
        int64_t now = fake_now_ns();
        event->tail_ns = stream->tail_ns > now ? stream->tail_ns : now;
        event->word = stream->word;
    }
    fake_unlock();
    return event && stream ? CU_SUCCESS : CU_INVALID_HANDLE;
}

FAKE_EXPORT cu_result cuEventQuery(void *handle)
{
    BEGIN(cuEventQuery);
    fake_lock();
    fake_ask_device();
    struct fake_object *event = fake_get(handle, FAKE_EVENT);
    bool is_passed = event && is_let_go(event) && fake_now_ns() >= event->tail_ns;
    fake_unlock();
    return !event ? CU_INVALID_HANDLE : is_passed ? CU_SUCCESS : CU_NOT_READY;
}

FAKE_EXPORT cu_result cuEventElapsedTime(float *ret_ms, void *begin_handle, void *end_handle)
{
    BEGIN(cuEventElapsedTime);
    fake_lock();
    struct fake_object *begin = fake_get(begin_handle, FAKE_EVENT), *end = fake_get(end_handle, FAKE_EVENT);
    bool is_passed = begin && end && fake_now_ns() >= begin->tail_ns && fake_now_ns() >= end->tail_ns;
    if (is_passed && ret_ms)
        *ret_ms = (float)((double)(end->tail_ns - begin->tail_ns) / 1e6);
    fake_unlock();
    return !begin || !end ? CU_INVALID_HANDLE : !is_passed ? CU_NOT_READY : ret_ms ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuEventSynchronize(void *handle)
{
    BEGIN(cuEventSynchronize);
    fake_lock();
    struct fake_object *event = fake_get(handle, FAKE_EVENT);
    int64_t end = event ? event->tail_ns : 0;
    int gpu = event ? event->gpu : 0;
    fake_unlock();
    if (!event)
        return CU_INVALID_HANDLE;
    wait_until(end);
    fake_lock();
    fake_pools_release(gpu);
    fake_unlock();
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuEventDestroy_v2(void *handle)
{
    BEGIN(cuEventDestroy_v2);
    fake_lock();
    struct fake_object *event = fake_get(handle, FAKE_EVENT);
    if (event)
        fake_delete(event);
    fake_unlock();
    return event ? CU_SUCCESS : CU_INVALID_HANDLE;
}

FAKE_EXPORT cu_result cuModuleGetFunction(void **ret_function, void *module, const char *name)
{
    BEGIN(cuModuleGetFunction);
    if (!ret_function || !module || !name || strlen(name) >= sizeof((struct fake_object *)0)->name)
        return CU_INVALID_VALUE;
    fake_lock();
    struct fake_object *function = fake_new(FAKE_FUNCTION, 0);
    strcpy(function->name, name);
    *ret_function = function;
    fake_unlock();
    return CU_SUCCESS;
}

/* An interval on the stream and on the device's shared timeline. */
void fake_run(struct fake_object *stream, int64_t ns)
{
    _Atomic int64_t *device = &fake_state()->busy_until[stream->gpu];
    int64_t before = atomic_load(device), begin, now = fake_now_ns();
    do {
        begin = before > now ? before : now;
        begin = stream->tail_ns > begin ? stream->tail_ns : begin;
    } while (!atomic_compare_exchange_weak(device, &before, begin + ns));
    stream->tail_ns = begin + ns;
    struct fake_process *self = fake_self();
    if (self)
        atomic_fetch_add(&self->busy_ns[stream->gpu], (uint64_t)ns);
}

static int64_t cost_of(const struct fake_object *function, void **params)
{
    if (strcmp(function->name, "spin_us") == 0 && params && params[0]) {
        unsigned us;
        memcpy(&us, params[0], sizeof us);
        return (int64_t)us * 1000;
    }
    return 5000;
}

static void use_word(const struct fake_object *function, struct fake_object *stream, void **params)
{
    bool waits = strcmp(function->name, "wait_word") == 0, sets = strcmp(function->name, "set_word") == 0;
    _Atomic uint32_t *word;
    if ((!waits && !sets) || !params)
        return;
    memcpy(&word, params[0], sizeof(void *));
    if (waits)
        stream->word = word;
    else
        atomic_store(word, 1);
}

static uint64_t counted_address(const struct fake_object *function, void **params)
{
    uint64_t address = 0;
    if (strcmp(function->name, "add_one") == 0 && params && params[0])
        memcpy(&address, params[0], sizeof address);
    return address;
}

static cu_result launch(void *function_handle, void *stream_handle, void **params)
{
    cu_result result = CU_SUCCESS;
    fake_lock();
    struct fake_object *function = fake_get(function_handle, FAKE_FUNCTION);
    struct fake_object *stream = fake_stream(stream_handle);
    if (!fake_current())
        result = CU_INVALID_CONTEXT;
    else if (!function || !stream)
        result = CU_INVALID_HANDLE;
    else if (stream->capture) {
        struct fake_object *node = fake_new(FAKE_NODE, stream->gpu);
        node->owner = stream->graph;
        node->type = CU_NODE_KERNEL;
        node->bytes = (uint64_t)cost_of(function, params);
        node->used = counted_address(function, params);
    } else {
        if (counted_address(function, params))
            result = fake_add_one(counted_address(function, params));
        fake_run(stream, cost_of(function, params));
        use_word(function, stream, params);
    }
    fake_unlock();
    return result;
}

#define SECOND(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)
#define UNUSED_SHAPE ((void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared)

FAKE_EXPORT cu_result cuLaunchKernel(PARAMS_launch_kernel)
{
    BEGIN(cuLaunchKernel);
    UNUSED_SHAPE, (void)extra;
    return launch(function, stream, params);
}

FAKE_EXPORT cu_result cuLaunchKernel_ptsz(PARAMS_launch_kernel)
{
    BEGIN(cuLaunchKernel_ptsz);
    UNUSED_SHAPE, (void)extra;
    return launch(function, SECOND(stream), params);
}

FAKE_EXPORT cu_result cuLaunchKernelEx(PARAMS_launch_ex)
{
    BEGIN(cuLaunchKernelEx);
    (void)extra;
    return config ? launch(function, config->stream, params) : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuLaunchKernelEx_ptsz(PARAMS_launch_ex)
{
    BEGIN(cuLaunchKernelEx_ptsz);
    (void)extra;
    return config ? launch(function, SECOND(config->stream), params) : CU_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuLaunchCooperativeKernel(PARAMS_launch_cooperative)
{
    BEGIN(cuLaunchCooperativeKernel);
    UNUSED_SHAPE;
    return launch(function, stream, params);
}

FAKE_EXPORT cu_result cuLaunchCooperativeKernel_ptsz(PARAMS_launch_cooperative)
{
    BEGIN(cuLaunchCooperativeKernel_ptsz);
    UNUSED_SHAPE;
    return launch(function, SECOND(stream), params);
}

FAKE_EXPORT cu_result cuLaunchCooperativeKernelMultiDevice(PARAMS_launch_multi)
{
    BEGIN(cuLaunchCooperativeKernelMultiDevice);
    (void)flags;
    if (!list || count == 0)
        return CU_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        cu_result result = launch(list[i].function, list[i].stream, list[i].parameters);
        if (result != CU_SUCCESS)
            return result;
    }
    return CU_SUCCESS;
}

FAKE_EXPORT cu_result cuLaunch(void *function)
{
    BEGIN(cuLaunch);
    return launch(function, NULL, NULL);
}

FAKE_EXPORT cu_result cuLaunchGrid(void *function, int width, int height)
{
    BEGIN(cuLaunchGrid);
    (void)width, (void)height;
    return launch(function, NULL, NULL);
}

FAKE_EXPORT cu_result cuLaunchGridAsync(void *function, int width, int height, void *stream)
{
    BEGIN(cuLaunchGridAsync);
    (void)width, (void)height;
    return launch(function, stream, NULL);
}
