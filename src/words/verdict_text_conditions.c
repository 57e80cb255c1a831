/* SPDX-License-Identifier: Apache-2.0 */

/* What makes a pod unplaceable on every node, in words: volumes, config maps, claims, and requests that no node can meet. */
#include "base/macros.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "words/verdict_text_internal.h"

/* What a pod asks for: "GPU: 1, CPU: 1 (cores), memory: 1 (GB), pods: 1". */
static void add_request(struct strbuf *out, const struct state *state, const struct request *request)
{
    strbuf_addstr(out, "GPU: ");
    add_decimals(out, gpu_to_double(request->quota_gpus));
    strbuf_addstr(out, ", CPU: ");
    add_decimals(out, (double)request->v[RES_CPU] / CORES);
    strbuf_addstr(out, " (cores), memory: ");
    add_decimals(out, (double)request->v[RES_MEMORY] / GIGABYTES);
    strbuf_addstr(out, " (GB)");
    for (uint32_t dim = RES_PODS; dim < request->v_count; dim++) {
        if (request->v[dim] == 0)
            continue;
        strbuf_addf(out, ", %s%s: ", state->res.mig_slices[dim] > 0 ? "mig " : "",
                    state_name(state, state->res.name[dim]));
        add_decimals(out, (double)request->v[dim] / (dim == RES_PODS || state->res.mig_slices[dim] > 0 ? 1 : 1000));
    }
}

static void add_largest(struct strbuf *out, const struct state *state, uint32_t dim, int64_t most, const char *pool)
{
    static const struct {
        const char *name;
        double unit;
        const char *suffix;
    } units[] = {
        [RES_CPU] = {"CPU", CORES, " cores"},
        [RES_MEMORY] = {"memory", GIGABYTES, " GB"},
        [RES_GPU] = {"GPU", (double)GPU_ONE, ""},
    };
    bool is_named = dim < ARRAY_LEN(units);
    const char *name = is_named ? units[dim].name : state_name(state, state->res.name[dim]);
    double unit = is_named ? units[dim].unit : dim == RES_PODS || state->res.mig_slices[dim] > 0 ? 1 : 1000;

    if (most == 0) {
        strbuf_addf(out, "No node in the %s node-pool has %s resources", pool, name);
        return;
    }
    strbuf_addf(out, "Max %s resources available in a single node in the %s node-pool is topped at ", name, pool);
    add_decimals(out, (double)most / unit);
    strbuf_addstr(out, is_named ? units[dim].suffix : "");
}

static bool add_too_large(const struct verdict_text *text, struct strbuf *out)
{
    const struct engine *engine = text->engine;
    const struct request *request = state_request(engine_state(engine), text->explanation->pod);

    for (uint32_t i = 0; i < request->v_count; i++) {
        uint32_t dim = text_nth_dim(i);
        int64_t most = engine_largest(engine, dim);

        if (request->v[dim] <= most)
            continue;
        strbuf_addstr(out, "The pod ");
        add_pod_name(out, engine_state(engine), text->explanation->pod);
        strbuf_addstr(out, " requires ");
        add_request(out, engine_state(engine), request);
        strbuf_addstr(out, ". ");
        add_largest(out, engine_state(engine), dim, most, text->node_pool ? text->node_pool : "default");
        return true;
    }
    return false;
}

static bool add_missing_volume(const struct verdict_text *text, struct strbuf *out)
{
    const struct state *state = engine_state(text->engine);
    const struct pod *pod = &state->pods.items[text->explanation->pod];
    const struct constraints *own = state_constraints(state, text->explanation->pod);

    for (uint32_t i = 0; i < own->volume_claim_count; i++) {
        const char *name = state_name(state, own->volume_claims[i]);
        const struct volume *volume = NULL;
        uint64_t at;

        if (map64_get(&state->volume_by_name, (uint64_t)pod->namespace << 32 | own->volume_claims[i], &at))
            volume = &state->volumes.items[at];
        if (!volume || !volume->is_present)
            strbuf_addf(out, "persistentvolumeclaim \"%s\" not found", name);
        else if (volume->is_lost)
            strbuf_addf(out, "persistentvolumeclaim \"%s\" bound to non-existent persistentvolume \"\"", name);
        else if (!volume->is_bound && !volume->waits_for_consumer && volume->node_term_count > 0)
            strbuf_addf(
                out,
                "node(s) didn't find available persistent volumes to bind: persistentvolumeclaim \"%s\" needs one "
                "of its StorageClass that is free and large enough",
                name);
        else if (!volume->is_bound && !volume->waits_for_consumer)
            strbuf_addstr(out, "pod has unbound immediate PersistentVolumeClaims");
        else
            continue;
        return true;
    }
    return false;
}

static bool add_missing_config_maps(const struct verdict_text *text, struct strbuf *out)
{
    const struct state *state = engine_state(text->engine);
    const struct pod *pod = &state->pods.items[text->explanation->pod];
    const struct constraints *own = state_constraints(state, text->explanation->pod);
    bool is_any = false;

    for (uint32_t i = 0; i < own->config_map_count; i++) {
        if (map64_get(&state->config_maps, (uint64_t)pod->namespace << 32 | own->config_maps[i], NULL))
            continue;
        strbuf_addf(out, "%s%s", is_any ? " " : "Missing required configmaps: [",
                    state_name(state, own->config_maps[i]));
        is_any = true;
    }
    if (is_any)
        strbuf_addch(out, ']');
    return is_any;
}

/* What stands in the way of the pod on every node, a line each. Where nothing but evicting was tried, the first alone. */
static bool add_conditions(const struct verdict_text *text, struct strbuf *out)
{
    static const struct {
        const char *predicate;
        bool (*add)(const struct verdict_text *text, struct strbuf *out);
    } checks[] = {
        {"VolumeBinding", add_missing_volume},
        {"MaxNodePoolResources", add_too_large},
        {"ConfigMap", add_missing_config_maps},
    };
    struct strbuf line;
    bool is_any = false;

    for (size_t i = 0; i < ARRAY_LEN(checks) && !text_allocate_runs(text); i++) {
        if (checks[i].add(text, out))
            return true;
    }
    strbuf_init(&line, REASON_MAX);
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        strbuf_clear(&line);
        if (!checks[i].add(text, &line))
            continue;
        if (!is_any) {
            strbuf_addstr(out, "Scheduling conditions were not met for pod ");
            add_pod_name(out, engine_state(text->engine), text->explanation->pod);
            strbuf_addstr(out, ":\n");
        }
        strbuf_addf(out, "%s: %s.\n", checks[i].predicate, line.text);
        is_any = true;
    }
    strbuf_done(&line);
    return is_any;
}

/* What is wrong with a claim for this pod; the rules are those of claims_exist. */
static bool add_claim_fault(const struct state *state, const struct pod *pod, const struct pod_claim *link,
                            struct strbuf *out)
{
    enum { USERS_MAX = 256 };
    static const char label[] = "kai.scheduler/queue";
    const struct claim *claim = &state->claims.items[link->slot];
    const char *name = state_name(state, claim->name);
    name_id key;

    if (link->claim == NO_ID || !claim->is_present) {
        strbuf_addf(out, "resourceclaim \"%s\" not found", name);
        return true;
    }
    if (claim->reserved_count >= USERS_MAX) {
        strbuf_addf(out, "resource claim %s/%s has reached its maximum number of consumers (%d)",
                    state_name(state, claim->namespace), name, USERS_MAX);
        return true;
    }
    if (link->is_from_template || !claim->is_gpu || pod->gang == NO_ID)
        return false;
    name_id queue = intern_find(&state->names, label, sizeof label - 1, &key)
                        ? labels_get(state_labels(state, claim->labels), key)
                        : NO_ID;
    name_id expected = state->gangs.items[pod->gang].queue_name;
    if (queue == expected)
        return false;
    strbuf_addf(out, "pod %s/%s cannot be scheduled: DRA claim %s is a shared GPU claim ",
                state_name(state, pod->namespace), state_name(state, pod->name), name);
    if (queue == NO_ID)
        strbuf_addf(out, "but does not have a queue label (%s)", label);
    else
        strbuf_addf(out, "with wrong queue label (expected queue: %s, claim queue label: %s)",
                    state_name(state, expected), state_name(state, queue));
    return true;
}

static bool add_missing_claim(const struct verdict_text *text, struct strbuf *out)
{
    const struct state *state = engine_state(text->engine);
    const struct pod *pod = &state->pods.items[text->explanation->pod];

    if (text->explanation->tried.code != VERDICT_MISSING_CLAIM)
        return false;
    for (uint32_t i = 0; i < pod->claim_count; i++) {
        if (add_claim_fault(state, pod, &pod->claims[i], out))
            return true;
    }
    for (uint32_t i = 0; i < pod->claim_count; i++) {
        const struct claim *claim = &state->claims.items[pod->claims[i].slot];
        if (claim->is_allocated || state_find_device_class(state, claim->device_class))
            continue;
        strbuf_addf(out, "device class %s does not exist for claim %s/%s", state_name(state, claim->device_class),
                    state_name(state, claim->namespace), state_name(state, claim->name));
        return true;
    }
    return false;
}

bool add_without_nodes(const struct verdict_text *text, struct strbuf *out)
{
    switch (text->explanation->tried.code) {
    case VERDICT_MISSING_VOLUME:
    case VERDICT_MISSING_CONFIG_MAP:
    case VERDICT_TOO_LARGE:
        return add_conditions(text, out);
    case VERDICT_MISSING_CLAIM:
        return add_missing_claim(text, out);
    default:
        break;
    }
    if (text->explanation->node_count > 0)
        return false;
    strbuf_addstr(out, "Unable to schedule pod");
    return true;
}
