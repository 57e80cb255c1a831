/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/gpu/run_spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "gpu/daemon/arbiter/arbiter.h"
#include "text/quantity.h"

enum { MEMORY_MIN = 1 << 20 };

/* "20Gi", or a part of what the GPU has: "0.25". */
static int read_memory(const char *text, uint64_t capacity, uint64_t *ret_bytes, struct err *err)
{
    char *end;
    double part = strtod(text, &end);
    int64_t bytes;

    if (*end == '\0' && part > 0 && part <= 1) {
        *ret_bytes = (uint64_t)(part * (double)capacity);
        return 0;
    }
    int r = quantity_parse(text, QUANTITY_ONE, &bytes, err);
    if (r < 0 || bytes <= 0)
        return err_set(err, -EINVAL, "expected an amount of GPU memory such as 20Gi, or 0.25 of the GPU, found '%s'",
                       text);
    if (bytes < MEMORY_MIN)
        return err_set(err, -EINVAL, "'%s' of GPU memory is only %lld bytes: write %sGi, or a part of the GPU up to 1",
                       text, (long long)bytes, text);
    *ret_bytes = (uint64_t)bytes;
    return 0;
}

static int read_share(const struct gpu_run_call *call, const struct gpu_choice *gpu, struct group_spec *spec,
                      struct err *err)
{
    char *end;
    double share = (double)spec->request_bytes / (double)gpu->capacity;

    if (call->share) {
        share = strtod(call->share, &end);
        if (*end != '\0' || !(share > 0 && share <= 1))
            return err_set(err, -EINVAL, "--share: expected a number above 0 and up to 1, found '%s'", call->share);
    }
    spec->share = CLAMP((uint32_t)(share * ARBITER_WHOLE + 0.5), 1u, (uint32_t)ARBITER_WHOLE);
    spec->cap = spec->mode == GPU_MODE_STRICT ? spec->share : ARBITER_WHOLE;
    return 0;
}

int gpu_run_spec(const struct gpu_run_call *call, const struct gpu_choice *gpu, struct group_spec *spec,
                 struct err *err)
{
    int r = 0;

    *spec =
        (struct group_spec){.gpu_count = 1, .uid = getuid(), .mode = GPU_MODE_FAIR, .is_parkable = call->is_parkable};
    (void)snprintf(spec->gpus[0], sizeof spec->gpus[0], "%s", gpu->uuid);
    if (call->name)
        (void)snprintf(spec->name, sizeof spec->name, "%s", call->name);
    else
        (void)snprintf(spec->name, sizeof spec->name, "run-%d", (int)getpid());
    if (call->mig) {
        spec->mode = GPU_MODE_TIME;
        (void)snprintf(spec->mig, sizeof spec->mig, "%s", call->mig);
        return 0;
    }
    if (call->mode)
        r = gpu_mode_parse(call->mode, &spec->mode, err);
    if (r >= 0 && call->priority)
        r = gpu_priority_parse(call->priority, &spec->is_urgent, err);
    if (r >= 0 && spec->is_urgent && spec->mode == GPU_MODE_TIME)
        r = err_set(err, -EINVAL, "--priority latency needs --mode fair or strict");
    if (r >= 0)
        r = read_memory(call->memory ? call->memory : "1", call->memory ? gpu->capacity : gpu->left,
                        &spec->request_bytes, err);
    spec->limit_bytes = spec->request_bytes;
    if (r >= 0 && call->memory_limit)
        r = read_memory(call->memory_limit, gpu->capacity, &spec->limit_bytes, err);
    if (r >= 0 && spec->limit_bytes < spec->request_bytes)
        r = err_set(err, -EINVAL, "--memory-limit %s is less than --memory %s", call->memory_limit,
                    call->memory ? call->memory : "(all free memory)");
    return r < 0 ? r : read_share(call, gpu, spec, err);
}
