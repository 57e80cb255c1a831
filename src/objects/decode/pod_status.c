/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where a pod is in its life. The phase and the deletion time say most of it; a pod that the scheduler has decided on
 * and the binder has not bound yet is known by its BindRequest, which also tells node, shared GPUs and NUMA zones.
 */
#include <string.h>

#include "model/state.h"
#include "objects/amounts.h"
#include "objects/decode/pod_internal.h"
#include "objects/keys.h"
#include "objects/kinds.h"

struct bind_request {
    struct json_at spec;
    struct json_at status;
    const char *node;
    struct json_at groups;
    struct json_at zones;
    struct json_at claims;
    struct json_at extended;
    int32_t backoff_limit;
    const char *phase;
    int32_t failed_attempts;
};

static int bind_request_decode(const struct object *object, struct bind_request *request, struct err *err)
{
    static const struct field in_root[] = {
        FIELD(bind_request, spec, "spec", FIELD_OBJECT),
        FIELD(bind_request, status, "status", FIELD_OBJECT),
    };
    static const struct field in_spec[] = {
        FIELD(bind_request, node, "selectedNode", FIELD_STR),
        FIELD(bind_request, groups, "selectedGPUGroups", FIELD_ARRAY),
        FIELD(bind_request, zones, "predictedNUMAZones", FIELD_ARRAY),
        FIELD(bind_request, claims, "resourceClaimAllocations", FIELD_ARRAY),
        FIELD(bind_request, extended, "extendedResourceClaimAllocation", FIELD_OBJECT),
        FIELD(bind_request, backoff_limit, "backoffLimit", FIELD_INT32),
    };
    static const struct field in_status[] = {
        FIELD(bind_request, phase, "phase", FIELD_STR),
        FIELD(bind_request, failed_attempts, "failedAttempts", FIELD_INT32),
    };

    *request = (struct bind_request){.node = "", .phase = "", .backoff_limit = -1};
    TRY(FIELDS_DECODE(&object->root, in_root, request, err));
    TRY(FIELDS_DECODE(&request->spec, in_spec, request, err));
    return FIELDS_DECODE(&request->status, in_status, request, err);
}

/* Requests that failed for good, or name a node that is not there, count for nothing. */
static bool is_live(const struct object_reader *reader, const struct bind_request *request)
{
    bool has_failed = strcmp(request->phase, "Failed") == 0 &&
                      (request->backoff_limit < 0 || request->failed_attempts >= request->backoff_limit);
    node_id node = state_find_node(reader->state, request->node);

    return !has_failed && node != NO_ID && reader->state->nodes.items[node].is_present;
}

/* The pod's live BindRequest; returns 1 when there is one. */
static int find_bind_request(struct object_reader *reader, const struct object *pod, struct bind_request *ret_request,
                             struct err *err)
{
    const struct object *object =
        object_set_find(reader->objects, object_kind_of("scheduling.run.ai", "BindRequest"), pod->namespace, pod->name);

    if (!object)
        return 0;
    int r = bind_request_decode(object, ret_request, err);
    if (r < 0)
        return object_wrap(object, r, err);
    return is_live(reader, ret_request);
}

static enum pod_status status_of(const struct object_reader *reader, const struct pod_json *json, bool is_binding)
{
    const struct object_options *options = reader->options;

    if (strcmp(json->phase, "Running") == 0) {
        if (!json->deleted)
            return POD_RUNNING;
        return options->now && json->deleted + options->stuck_threshold < options->now ? POD_STUCK : POD_RELEASING;
    }
    if (strcmp(json->phase, "Succeeded") == 0)
        return POD_SUCCEEDED;
    if (strcmp(json->phase, "Failed") == 0)
        return POD_FAILED;
    if (strcmp(json->phase, "Pending") != 0)
        return POD_UNKNOWN;

    if (json->deleted)
        return POD_RELEASING;
    if (*json->node)
        return POD_BOUND;
    if (is_binding)
        return POD_BINDING;
    return json_len(&json->gates) > 0 ? POD_GATED : POD_PENDING;
}

/* The shared GPUs that the binder has written on the pod: one label for one, one label each for several. */
static void groups_of_labels(struct arena *arena, const struct pod_json *json, struct pod_spec *spec)
{
    static const char prefix[] = KEY_GPU_GROUP "/";
    const char **groups = arena_calloc(arena, json_len(&json->labels), sizeof *groups);
    size_t count = 0;

    for (struct json_at item = {0}; json_next(&json->labels, &item);) {
        const char *value = yyjson_get_str(item.val);
        bool is_known = false;

        if (!value || (strcmp(item.key, KEY_GPU_GROUP) != 0 && strncmp(item.key, prefix, strlen(prefix)) != 0))
            continue;
        for (size_t i = 0; i < count; i++)
            is_known |= strcmp(groups[i], value) == 0;
        if (!is_known)
            groups[count++] = value;
    }
    spec->gpu_groups = groups;
    spec->gpu_group_count = count;
}

/* One zone: {"zone": "node-0", "amount": {"cpu": "4"}}. */
static int draw_decode(struct arena *arena, const struct json_at *at, struct numa_draw_spec *draws, size_t *count,
                       struct err *err)
{
    const char *zone = NULL;
    struct amounts_list amounts;
    struct json_at amount;

    amounts_init(&amounts, arena);
    TRY(json_member_str(at, "zone", JSON_REQUIRED, &zone, err));
    TRY(json_member_object(at, "amount", JSON_REQUIRED, &amount, err));
    TRY(amounts_decode(&amounts, &amount, err));
    for (size_t i = 0; i < amounts.count; i++)
        draws[(*count)++] = (struct numa_draw_spec){zone, amounts.items[i].resource, amounts.items[i].amount};
    return 0;
}

static int draws_decode(struct arena *arena, const struct json_at *at, struct pod_spec *spec, struct err *err)
{
    size_t max = 0;
    size_t count = 0;

    for (struct json_at item = {0}; json_next(at, &item);) {
        struct json_at amount = json_member(&item, "amount");
        max += json_len(&amount);
    }
    struct numa_draw_spec *draws = arena_calloc(arena, max, sizeof *draws);
    for (struct json_at item = {0}; json_next(at, &item);)
        TRY(draw_decode(arena, &item, draws, &count, err));
    spec->numa = draws;
    spec->numa_count = count;
    return 0;
}

/* A record in an annotation. The strings are copied, as the document goes; what cannot be read counts as none. */
static bool numa_from_annotation(struct arena *arena, const struct pod_json *json, const char *key,
                                 struct pod_spec *spec)
{
    const char *text = json_peek_str(&json->annotations, key);
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    if (!text || json_parse(text, strlen(text), key, &doc, NULL) < 0)
        return false;
    struct json_at root = json_root(doc);
    if (json_array(&root, NULL) < 0 || draws_decode(arena, &root, spec, NULL) < 0) {
        spec->numa_count = 0;
        return false;
    }
    struct numa_draw_spec *draws = arena_calloc(arena, spec->numa_count, sizeof *draws);
    for (size_t i = 0; i < spec->numa_count; i++) {
        draws[i] = (struct numa_draw_spec){
            arena_strdup(arena, spec->numa[i].zone),
            arena_strdup(arena, spec->numa[i].resource),
            spec->numa[i].amount,
        };
    }
    spec->numa = draws;
    return true;
}

static int numa_of_pod(struct object_reader *reader, const struct pod_json *json, const struct bind_request *request,
                       struct pod_spec *spec, struct err *err)
{
    if (numa_from_annotation(&reader->scratch, json, KEY_NUMA_OBSERVED, spec))
        return 0;
    if (request && json_len(&request->zones) > 0)
        return draws_decode(&reader->scratch, &request->zones, spec, err);
    (void)numa_from_annotation(&reader->scratch, json, KEY_NUMA_PREDICTED, spec);
    return 0;
}

int pod_status_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                      struct pod_spec *spec, struct err *err)
{
    struct bind_request request;
    int has_request = find_bind_request(reader, object, &request, err);

    if (has_request < 0)
        return has_request;
    spec->status = status_of(reader, json, has_request);
    spec->deleted = json->deleted;
    spec->node = *json->node ? json->node : has_request && spec->status == POD_BINDING ? request.node : NULL;
    spec->nominated_node = json->nominated_node;
    if (has_request && json_len(&request.groups) > 0)
        TRY(strings_decode(&reader->scratch, &request.groups, &spec->gpu_groups, &spec->gpu_group_count, err));
    else
        groups_of_labels(&reader->scratch, json, spec);
    return numa_of_pod(reader, json, has_request ? &request : NULL, spec, err);
}

/* One of the request's claims: {"name": "as the pod calls it", "allocation": {...}}. */
static int chosen_decode(struct object_reader *reader, const struct pod_json *json, const struct object *object,
                         pod_id pod, const struct json_at *at, struct err *err)
{
    const char *reference = NULL;
    struct json_at allocation;

    TRY(json_member_str(at, "name", JSON_REQUIRED, &reference, err));
    TRY(json_member_object(at, "allocation", JSON_OPTIONAL, &allocation, err));
    const char *claim = pod_claim_called(reader, object, json, reference);
    return claim && allocation.val ? claim_put_chosen(reader, pod, claim, &allocation, err) : 0;
}

int pod_devices_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                       struct err *err)
{
    pod_id pod = state_find_pod(reader->state, object->namespace, object->name);
    struct bind_request request;
    struct json_at allocation;
    int has_request = find_bind_request(reader, object, &request, err);

    if (has_request <= 0 || pod == NO_ID)
        return MIN(has_request, 0);
    for (struct json_at item = {0}; json_next(&request.claims, &item);)
        TRY(chosen_decode(reader, json, object, pod, &item, err));
    if (!request.extended.val)
        return 0;
    TRY(json_member_object(&request.extended, "allocation", JSON_REQUIRED, &allocation, err));
    return claim_put_planned(reader->state, &reader->scratch, pod, &allocation, err);
}
