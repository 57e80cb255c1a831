/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that starts work on the device, and what has to be known about streams for that. */
#include "gpu/tenant/compute/gate.h"
#include "gpu/tenant/tenant.h"

/* The same function takes longer on a larger grid, so that its cost is learned for both together. The result only tells
 * costs apart; nobody follows it. */
static const void *work_of(const void *function, unsigned x, unsigned y, unsigned z)
{
    uint64_t blocks = (uint64_t)x * y * z;
    return (const void *)(uintptr_t)((uint64_t)(uintptr_t)function ^ blocks << 20);
}

int on_launch_kernel(launch_kernel_fn *real, PARAMS_launch_kernel)
{
    struct gate_pass pass;
    gate_enter(&pass, work_of(function, gx, gy, gz), tenant_stream((void *)real, HOOK_cuLaunchKernel_ptsz, stream));
    cu_result result = real(ARGS_launch_kernel);
    gate_leave(&pass, result);
    return result;
}

int on_launch_ex(launch_ex_fn *real, PARAMS_launch_ex)
{
    struct gate_pass pass;
    if (!config)
        return real(ARGS_launch_ex);
    gate_enter(&pass, work_of(function, config->grid[0], config->grid[1], config->grid[2]),
               tenant_stream((void *)real, HOOK_cuLaunchKernelEx_ptsz, config->stream));
    cu_result result = real(ARGS_launch_ex);
    gate_leave(&pass, result);
    return result;
}

int on_launch_cooperative(launch_cooperative_fn *real, PARAMS_launch_cooperative)
{
    struct gate_pass pass;
    gate_enter(&pass, work_of(function, gx, gy, gz),
               tenant_stream((void *)real, HOOK_cuLaunchCooperativeKernel_ptsz, stream));
    cu_result result = real(ARGS_launch_cooperative);
    gate_leave(&pass, result);
    return result;
}

/* One kernel on several devices at once: it begins when the first device's turn has come. */
int on_launch_multi(launch_multi_fn *real, PARAMS_launch_multi)
{
    struct gate_pass pass;
    if (!list || count == 0)
        return real(ARGS_launch_multi);
    gate_enter(&pass, work_of(list->function, list->grid[0], list->grid[1], list->grid[2]), list->stream);
    cu_result result = real(ARGS_launch_multi);
    gate_leave(&pass, result);
    return result;
}

int on_launch_old(launch_old_fn *real, void *function)
{
    struct gate_pass pass;
    gate_enter(&pass, function, NULL);
    cu_result result = real(function);
    gate_leave(&pass, result);
    return result;
}

int on_launch_grid(launch_grid_fn *real, void *function, int width, int height)
{
    struct gate_pass pass;
    gate_enter(&pass, work_of(function, (unsigned)width, (unsigned)height, 1), NULL);
    cu_result result = real(function, width, height);
    gate_leave(&pass, result);
    return result;
}

int on_launch_grid_async(launch_grid_async_fn *real, void *function, int width, int height, void *stream)
{
    struct gate_pass pass;
    gate_enter(&pass, work_of(function, (unsigned)width, (unsigned)height, 1), stream);
    cu_result result = real(function, width, height, stream);
    gate_leave(&pass, result);
    return result;
}

int on_stream_destroy(stream_destroy_fn *real, void *stream)
{
    if (stream)
        gate_leave_stream(stream);
    return real(stream);
}

static void begin_capture(void *stream)
{
    tenant_begin_capture();
    gate_begin_capture(stream);
}

static int begun(cu_result result)
{
    if (result != CU_SUCCESS)
        tenant_end_capture();
    return result;
}

int on_capture_begin_v1(capture_begin_v1_fn *real, void *stream)
{
    begin_capture(stream);
    return begun(real(stream));
}

int on_capture_begin(capture_begin_fn *real, void *stream, int mode)
{
    begin_capture(stream);
    return begun(real(stream, mode));
}

int on_capture_into(capture_into_fn *real, PARAMS_capture_into)
{
    begin_capture(stream);
    return begun(real(ARGS_capture_into));
}

int on_capture_again(capture_again_fn *real, PARAMS_capture_again)
{
    begin_capture(stream);
    return begun(real(ARGS_capture_again));
}

int on_capture_graphics(capture_graphics_fn *real, PARAMS_capture_graphics)
{
    begin_capture(stream);
    return begun(real(ARGS_capture_graphics));
}

/* A capture is over when its stream does not capture any more, whatever has become of the graph. */
int on_capture_end(capture_end_fn *real, PARAMS_capture_end)
{
    void *meant = tenant_stream((void *)real, HOOK_cuStreamEndCapture_ptsz, stream);
    bool was_capturing = tenant_is_capturing(meant);
    cu_result result = real(ARGS_capture_end);
    if (was_capturing && !tenant_is_capturing(meant))
        tenant_end_capture();
    return result;
}
