/* SPDX-License-Identifier: Apache-2.0 */

/* Requests: checked, worked out and interned. What comes from DRA claims is put in later, when the claims are known. */
#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "model/parts.h"

/* Together they keep what a shared request costs within AMOUNT_MAX on any node. */
enum { DEVICES_MAX = 512, MEMORY_MIB_MAX = 1 << 29 };

static int check(const struct request_spec *spec, struct err *err)
{
    bool is_shared = spec->kind == REQUEST_FRACTION || spec->kind == REQUEST_GPU_MEMORY;

    if ((unsigned)spec->kind > REQUEST_MIG)
        return err_set(err, -EINVAL, "unknown kind of request: %d", (int)spec->kind);
    if (spec->gpus < 0 || spec->gpus > AMOUNT_MAX / GPU_ONE)
        return err_set(err, -EINVAL, "it requests %lld GPUs; must be 0 to %lld", (long long)spec->gpus,
                       (long long)(AMOUNT_MAX / GPU_ONE));
    if (spec->kind == REQUEST_FRACTION && !(spec->portion > 0 && spec->portion <= 1))
        return err_set(err, -EINVAL, "it requests a fraction of %g GPU; must be above 0 and at most 1", spec->portion);
    if (spec->kind == REQUEST_GPU_MEMORY && (spec->memory_mib <= 0 || spec->memory_mib > MEMORY_MIB_MAX))
        return err_set(err, -EINVAL, "it requests %lld MiB of GPU memory; must be 1 to %d", (long long)spec->memory_mib,
                       MEMORY_MIB_MAX);
    if (is_shared && spec->devices > DEVICES_MAX)
        return err_set(err, -EINVAL, "it requests fractions of %u GPUs; must be at most %d", spec->devices,
                       DEVICES_MAX);
    return 0;
}

static void write_request(struct words *words, const struct request *request, const int64_t *v)
{
    uint64_t portion;

    memcpy(&portion, &request->portion, sizeof portion);
    vec_clear(words);
    vec_push(words, (uint32_t)request->kind);
    vec_push(words, (uint32_t)request->qos);
    vec_push(words, request->devices);
    vec_push(words, request->is_legacy_mig);
    words_add64(words, portion);
    words_add64(words, (uint64_t)request->memory_mib);
    words_add64(words, (uint64_t)request->gpus);
    words_add64(words, (uint64_t)request->dra_gpus);
    words_add64(words, (uint64_t)request->dra_parts);
    for (uint32_t d = 0; d < request->v_count; d++)
        words_add64(words, (uint64_t)v[d]);
}

/* Works out the rest from what was asked, `v` and the claims' GPUs, and interns it. `v` is RES_MAX long. */
static request_id finish(struct state *state, struct request request, int64_t *v)
{
    int64_t mig = 0;

    v[RES_GPU] = request.gpus + request.dra_gpus;
    v[RES_PODS] = 1;
    request.v_count = RES_FIXED;
    for (uint32_t d = RES_FIXED; d < state->res.count; d++) {
        mig += state->res.mig_slices[d] * v[d] * GPU_ONE;
        if (v[d] != 0)
            request.v_count = d + 1;
    }
    request.quota_gpus = request.gpus + request.dra_gpus + request.dra_parts + mig;
    request.is_cpu_only = request.quota_gpus == 0 && request.kind != REQUEST_GPU_MEMORY && request.kind != REQUEST_MIG;

    write_request(&state->words, &request, v);
    uint64_t hash = words_hash(&state->words);
    request_id id =
        shape_find(&state->request_by_hash, state->request_next.items, state->request_keys.items, &state->words, hash);
    if (id != NO_ID)
        return id;

    id = state->requests.len;
    int64_t *copy = arena_alloc(&state->kept, request.v_count * sizeof *copy);
    memcpy(copy, v, request.v_count * sizeof *copy);
    request.v = copy;
    vec_push(&state->requests, request);
    vec_push(&state->request_keys, shape_key_new(state, &state->words));
    vec_push(&state->request_next, shape_chain(&state->request_by_hash, hash, id));
    return id;
}

int request_add(struct state *state, const struct request_spec *spec, request_id *ret_request, struct err *err)
{
    struct request request = {
        .kind = spec->kind,
        .qos = spec->qos,
        .devices = 1,
        .is_legacy_mig = spec->is_legacy_mig,
    };
    int64_t v[RES_MAX] = {0};
    int r = check(spec, err);

    if (r < 0)
        return r;
    r = amounts_read(state, spec->amounts, spec->amount_count, v, err);
    if (r < 0)
        return r;
    if (v[RES_GPU] != 0)
        return err_set(err, -EINVAL, "GPUs are listed among its other resources");

    if (request_is_shared(&request))
        request.devices = MAX(spec->devices, 1u);
    if (spec->kind == REQUEST_FRACTION) {
        request.portion = spec->portion;
        request.gpus = llround(spec->portion * 100) * request.devices * GPU_HUNDREDTH;
    }
    if (spec->kind == REQUEST_GPU_MEMORY)
        request.memory_mib = spec->memory_mib;
    if (spec->kind == REQUEST_REGULAR)
        request.gpus = spec->gpus * GPU_ONE;
    *ret_request = finish(state, request, v);
    return 0;
}

request_id request_with_dra(struct state *state, request_id id, int64_t dra_gpus, int64_t dra_parts)
{
    struct request request = state->requests.items[id];
    int64_t v[RES_MAX] = {0};

    if (request.dra_gpus == dra_gpus && request.dra_parts == dra_parts)
        return id;
    memcpy(v, request.v, request.v_count * sizeof *v);
    request.dra_gpus = dra_gpus;
    request.dra_parts = dra_parts;
    return finish(state, request, v);
}
