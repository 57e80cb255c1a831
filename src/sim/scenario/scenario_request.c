/* SPDX-License-Identifier: Apache-2.0 */

/* What a task of a scenario asks for: whole GPUs, or parts of them by fraction or memory, or MIG slices. */
#include <errno.h>

#include "sim/scenario/scenario_internal.h"

enum { DEFAULT_CPU_MILLI = 1000, DEVICES_MAX = 1024, FIXED_AMOUNTS = 2 };
#define DEFAULT_MEMORY INT64_C(1000000000)
#define GPU_MEMORY_MAX (INT64_C(1) << 30)
#define AMOUNT_MAX (INT64_C(1) << 53)

static int read_gpus(const struct json_at *at, struct request_spec *request, struct err *err)
{
    int64_t devices = 1;
    int rc;

    if ((rc = json_member_int64(at, "gpus", JSON_OPTIONAL, 0, DEVICES_MAX, &request->gpus, err)) < 0 ||
        (rc = json_member_double(at, "gpu_fraction", JSON_OPTIONAL, 0, 1, &request->portion, err)) < 0 ||
        (rc = json_member_int64(at, "gpu_memory_mib", JSON_OPTIONAL, 0, GPU_MEMORY_MAX, &request->memory_mib, err)) <
            0 ||
        (rc = json_member_int64(at, "gpu_fraction_devices", JSON_OPTIONAL, 0, DEVICES_MAX, &devices, err)) < 0)
        return rc;
    if ((request->gpus > 0) + (request->portion > 0) + (request->memory_mib > 0) > 1)
        return json_fail(at, err, -EINVAL, "expected only one of gpus, gpu_fraction and gpu_memory_mib");
    if (request->portion > 0)
        request->kind = REQUEST_FRACTION;
    else if (request->memory_mib > 0)
        request->kind = REQUEST_GPU_MEMORY;
    request->devices = devices > 0 ? (uint32_t)devices : 1;
    return 0;
}

static int read_amounts(struct scenario_reader *r, const struct json_at *at, struct request_spec *request,
                        struct err *err)
{
    struct amount_spec *amounts;
    int64_t cpu = DEFAULT_CPU_MILLI;
    int64_t memory = DEFAULT_MEMORY;
    int rc;

    if ((rc = json_member_int64(at, "cpu_milli", JSON_OPTIONAL, 0, AMOUNT_MAX, &cpu, err)) < 0 ||
        (rc = json_member_int64(at, "memory_bytes", JSON_OPTIONAL, 0, AMOUNT_MAX, &memory, err)) < 0 ||
        (rc = scenario_amounts(r, at, "mig", FIXED_AMOUNTS, &amounts, &request->amount_count, err)) < 0)
        return rc;
    if (request->amount_count > FIXED_AMOUNTS) {
        if (request->kind != REQUEST_REGULAR)
            return json_fail(at, err, -EINVAL, "mig cannot be used together with gpu_fraction or gpu_memory_mib");
        request->kind = REQUEST_MIG;
    }
    amounts[0] = (struct amount_spec){"cpu", cpu};
    amounts[1] = (struct amount_spec){"memory", memory};
    request->amounts = amounts;
    return scenario_count(r, at, amounts, request->amount_count, err);
}

int scenario_read_request(struct scenario_reader *r, const struct json_at *task, struct request_spec *request,
                          struct err *err)
{
    struct json_at at;
    bool is_best_effort = false;
    int rc;

    if ((rc = json_member_bool(task, "legacy_mig", JSON_OPTIONAL, &request->is_legacy_mig, err)) < 0 ||
        (rc = json_member_object(task, "request", JSON_OPTIONAL, &at, err)) < 0 ||
        (rc = json_member_bool(&at, "best_effort", JSON_OPTIONAL, &is_best_effort, err)) < 0)
        return rc;
    request->devices = 1;
    if (is_best_effort)
        return 0;
    if ((rc = read_gpus(&at, request, err)) < 0)
        return rc;
    return read_amounts(r, &at, request, err);
}
