/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Dynamic resource allocation: slices and claims. The model knows one device class and one count a claim, which is what
 * quotas see of it: the sum over all requests for GPUs, under the first GPU class; a claim without GPUs has its first
 * request's class and count. Versions v1beta1 to v1 differ in whether a request's fields stand under `exactly`.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "model/state.h"
#include "objects/decode/decode.h"
#include "objects/keys.h"
#include "objects/kinds.h"

#define SYNTHETIC_ANNOTATION "resource.kubernetes.io/extended-resource-claim"

struct slice_json {
    const char *driver;
    const char *node;
    bool is_for_all_nodes;
    struct json_at pool;
    struct json_at devices;
};

int resource_slice_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    static const struct field fields[] = {
        FIELD_NEEDED(slice_json, driver, "driver", FIELD_STR),       FIELD(slice_json, node, "nodeName", FIELD_STR),
        FIELD(slice_json, is_for_all_nodes, "allNodes", FIELD_BOOL), FIELD(slice_json, pool, "pool", FIELD_OBJECT),
        FIELD(slice_json, devices, "devices", FIELD_ARRAY),
    };
    struct slice_json json = {0};
    struct json_at in;
    size_t count = 0;

    TRY(json_member_object(&object->root, "spec", JSON_REQUIRED, &in, err));
    TRY(FIELDS_DECODE(&in, fields, &json, err));
    const char **devices = arena_calloc(&reader->scratch, json_len(&json.devices), sizeof *devices);
    for (struct json_at item = {0}; json_next(&json.devices, &item); count++)
        TRY(json_member_str(&item, "name", JSON_REQUIRED, &devices[count], err));

    const char *pool = json_peek_str(&json.pool, "name");
    return state_put_slice(reader->state,
                           &(struct slice_spec){
                               .name = object->name,
                               .driver = json.driver,
                               .pool = pool ? pool : "",
                               .node = json.is_for_all_nodes ? NULL
                                       : json.node           ? json.node
                                                             : "",
                               .is_for_all_nodes = json.is_for_all_nodes,
                               .devices = devices,
                               .device_count = count,
                           },
                           err);
}

struct request_json {
    const char *class;
    const char *mode;
    int64_t count;
};

static int request_decode(const struct json_at *at, struct request_json *json, struct err *err)
{
    static const struct field fields[] = {
        FIELD(request_json, class, "deviceClassName", FIELD_STR),
        FIELD(request_json, mode, "allocationMode", FIELD_STR),
        FIELD(request_json, count, "count", FIELD_INT64),
    };
    struct json_at exactly;

    *json = (struct request_json){.class = "", .mode = "ExactCount", .count = 1};
    TRY(json_member_object(at, "exactly", JSON_OPTIONAL, &exactly, err));
    TRY(FIELDS_DECODE(exactly.val ? &exactly : at, fields, json, err));
    if (json->count < 0) {
        struct json_at count = {.parent = at, .key = "count"};
        return json_fail(&count, err, -EINVAL, "expected a whole number >= 0, found %lld", (long long)json->count);
    }
    if (json->count == 0 || strcmp(json->mode, "All") == 0)
        json->count = 1;
    return 0;
}

/* Sums up what the claim asks for. `spec_at` is a ResourceClaimSpec. */
static int devices_decode(const struct json_at *spec_at, struct claim_spec *spec, struct err *err)
{
    struct json_at devices;
    struct json_at requests;
    bool has_gpu = false;

    TRY(json_member_object(spec_at, "devices", JSON_OPTIONAL, &devices, err));
    TRY(json_member_array(&devices, "requests", JSON_OPTIONAL, &requests, err));
    for (struct json_at item = {0}; json_next(&requests, &item);) {
        struct request_json json;

        TRY(request_decode(&item, &json, err));
        bool is_gpu = strcasestr(json.class, "gpu") != NULL;
        if ((is_gpu && !has_gpu) || !*spec->device_class) {
            spec->device_class = json.class;
            spec->count = json.count;
        } else if (is_gpu && __builtin_add_overflow(spec->count, json.count, &spec->count)) {
            spec->count = INT64_MAX;
        }
        has_gpu |= is_gpu;
    }
    return 0;
}

static int allocation_decode(struct arena *arena, const struct json_at *allocation, struct claim_spec *spec,
                             struct err *err)
{
    struct json_at in;
    struct json_at results;
    size_t count = 0;

    TRY(json_member_object(allocation, "devices", JSON_OPTIONAL, &in, err));
    TRY(json_member_array(&in, "results", JSON_OPTIONAL, &results, err));
    struct device_spec *devices = arena_calloc(arena, json_len(&results), sizeof *devices);
    for (struct json_at item = {0}; json_next(&results, &item); count++) {
        TRY(json_member_str(&item, "driver", JSON_REQUIRED, &devices[count].driver, err));
        TRY(json_member_str(&item, "pool", JSON_REQUIRED, &devices[count].pool, err));
        TRY(json_member_str(&item, "device", JSON_REQUIRED, &devices[count].device, err));
    }
    spec->is_allocated = allocation->val != NULL;
    spec->devices = devices;
    spec->device_count = count;
    return 0;
}

static int reserved_decode(struct arena *arena, const struct json_at *status, struct claim_spec *spec, struct err *err)
{
    struct json_at reserved;
    size_t count = 0;

    TRY(json_member_array(status, "reservedFor", JSON_OPTIONAL, &reserved, err));
    const char **uids = arena_calloc(arena, json_len(&reserved), sizeof *uids);
    for (struct json_at item = {0}; json_next(&reserved, &item);) {
        const char *resource = json_peek_str(&item, "resource");
        const char *name = json_peek_str(&item, "name");
        const char *uid = json_peek_str(&item, "uid");

        if (resource && strcmp(resource, "pods") != 0)
            continue;
        if (uid && *uid)
            uids[count++] = uid;
        else if (name)
            uids[count++] = arena_printf(arena, "%s/%s", spec->namespace, name);
    }
    spec->reserved_for = uids;
    spec->reserved_count = count;
    return 0;
}

/* Of its labels only the one with the queue counts. Whatever key the cluster has for that, the model has KAI's. */
static void labels_decode(struct object_reader *reader, const struct object *object, struct claim_spec *spec)
{
    const char *queue = object_label(object, reader->options->queue_label);

    if (!queue)
        return;
    struct str_pair *pair = arena_calloc(&reader->scratch, 1, sizeof *pair);
    *pair = (struct str_pair){KEY_QUEUE, queue};
    spec->labels = pair;
    spec->label_count = 1;
}

int resource_claim_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    struct claim_spec spec = {.namespace = object->namespace, .name = object->name, .device_class = ""};
    const char *synthetic = object_annotation(object, SYNTHETIC_ANNOTATION);
    struct json_at in;
    struct json_at status;
    struct json_at allocation;

    TRY(json_member_object(&object->root, "spec", JSON_OPTIONAL, &in, err));
    TRY(json_member_object(&object->root, "status", JSON_OPTIONAL, &status, err));
    TRY(json_member_object(&status, "allocation", JSON_OPTIONAL, &allocation, err));
    labels_decode(reader, object, &spec);
    TRY(devices_decode(&in, &spec, err));
    TRY(allocation_decode(&reader->scratch, &allocation, &spec, err));
    TRY(reserved_decode(&reader->scratch, &status, &spec, err));
    spec.is_synthetic = synthetic && strcmp(synthetic, "true") == 0;
    return state_put_claim(reader->state, &spec, err);
}

int claim_put_from_template(struct object_reader *reader, const char *namespace, const char *template_name,
                            const char *name, bool *ret_is_known, struct err *err)
{
    const struct object *object = object_set_find(
        reader->objects, object_kind_of("resource.k8s.io", "ResourceClaimTemplate"), namespace, template_name);
    struct claim_spec spec = {.namespace = namespace, .name = name, .device_class = ""};

    *ret_is_known = object != NULL;
    if (!object)
        return 0;

    struct json_at template = json_member(&object->root, "spec");
    struct json_at meta = json_member(&template, "metadata");
    struct json_at labels = json_member(&meta, "labels");
    struct json_at in = json_member(&template, "spec");
    int r = pairs_decode(&reader->scratch, &labels, &spec.labels, &spec.label_count, err);
    if (r >= 0)
        r = devices_decode(&in, &spec, err);
    if (r < 0)
        return object_wrap(object, r, err);
    return state_put_claim(reader->state, &spec, err);
}

/* The claim as it is, with the devices and one more pod that uses them. Nothing when it has some. */
static int put_chosen(struct state *state, struct arena *arena, uint32_t id, const struct pod *pod,
                      const struct json_at *allocation, struct err *err)
{
    const struct claim *claim = &state->claims.items[id];
    struct labels labels = state_labels(state, claim->labels);
    struct str_pair *pairs = arena_calloc(arena, labels.count, sizeof *pairs);
    const char **uids = arena_calloc(arena, (size_t)claim->reserved_count + 1, sizeof *uids);
    struct claim_spec spec = {
        .namespace = state_name(state, claim->namespace),
        .name = state_name(state, claim->name),
        .device_class = state_name(state, claim->device_class),
        .labels = pairs,
        .label_count = labels.count,
        .count = claim->count,
        .is_synthetic = claim->is_synthetic,
        .reserved_for = uids,
        .reserved_count = (size_t)claim->reserved_count + 1,
    };

    if (!claim->is_present || claim->is_allocated)
        return 0;
    for (uint32_t i = 0; i < labels.count; i++)
        pairs[i] = (struct str_pair){state_name(state, labels.pairs[i].key), state_name(state, labels.pairs[i].value)};
    for (uint32_t i = 0; i < claim->reserved_count; i++)
        uids[i] = state_name(state, claim->reserved_for[i]);
    uids[claim->reserved_count] = state_name(state, pod->uid);
    TRY(allocation_decode(arena, allocation, &spec, err));
    return state_put_claim(state, &spec, err);
}

int claim_put_planned(struct state *state, struct arena *arena, pod_id id, const struct json_at *allocation,
                      struct err *err)
{
    const struct pod *pod = &state->pods.items[id];
    const struct pod_claim *link = pod->claim_count > 0 ? &pod->claims[pod->claim_count - 1] : NULL;

    if (!link || !link->is_extended || !state->claims.items[link->slot].is_plan)
        return 0;
    return put_chosen(state, arena, link->slot, pod, allocation, err);
}

int claim_put_chosen(struct object_reader *reader, pod_id id, const char *name, const struct json_at *allocation,
                     struct err *err)
{
    struct state *state = reader->state;
    const struct pod *pod = &state->pods.items[id];

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        if (strcmp(state_name(state, state->claims.items[pod->claims[i].slot].name), name) == 0)
            return put_chosen(state, &reader->scratch, pod->claims[i].slot, pod, allocation, err);
    }
    return 0;
}
