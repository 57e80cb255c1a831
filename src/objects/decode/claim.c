/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Dynamic resource allocation: claims. Beside what a claim asks for, the model knows one device class and one count of it,
 * which is what quotas see: the sum over all requests for GPUs, under the first GPU class; a claim without GPUs has its first
 * request's class and count. Versions v1beta1 to v1 differ in whether a request's fields stand under `exactly`.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "model/state.h"
#include "objects/decode/decode.h"
#include "objects/decode/device_parts_internal.h"
#include "objects/keys.h"
#include "objects/kinds.h"

#define SYNTHETIC_ANNOTATION "resource.kubernetes.io/extended-resource-claim"

struct request_json {
    const char *class;
    const char *mode;
    int64_t count;
    bool is_share;  // it asks for a part of what devices have
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
    struct json_at capacity = json_member(exactly.val ? &exactly : at, "capacity");
    struct json_at parts = json_member(&capacity, "requests");
    json->is_share = json_len(&parts) > 0;
    if (json->count < 0) {
        struct json_at count = {.parent = at, .key = "count"};
        return json_fail(&count, err, -EINVAL, "expected a whole number >= 0, found %lld", (long long)json->count);
    }
    if (json->count == 0 || strcmp(json->mode, "All") == 0)
        json->count = 1;
    return 0;
}

/*
 * Of a prioritised list the least that it can be met with is counted, when all of it is for GPUs. Which way it is met is
 * not known before.
 */
static int list_decode(const struct json_at *list, struct request_json *json, struct err *err)
{
    *json = (struct request_json){.class = "", .count = INT64_MAX};
    for (struct json_at item = {0}; json_next(list, &item);) {
        struct request_json one;

        TRY(request_decode(&item, &one, err));
        if (!strcasestr(one.class, "gpu") || one.is_share) {
            *json = (struct request_json){.class = "", .count = 0};
            return 0;
        }
        if (!*json->class)
            json->class = one.class;
        json->count = MIN(json->count, one.count);
    }
    return 0;
}

/* Sums up what the claim asks for. `spec_at` is a ResourceClaimSpec. */
static int devices_decode(struct arena *arena, const struct json_at *spec_at, struct claim_spec *spec, struct err *err)
{
    struct json_at devices;
    struct json_at requests;
    bool has_gpu = false;

    TRY(json_member_object(spec_at, "devices", JSON_OPTIONAL, &devices, err));
    TRY(json_member_array(&devices, "requests", JSON_OPTIONAL, &requests, err));
    TRY(claim_ask_decode(arena, &devices, &spec->ask, err));
    for (struct json_at item = {0}; json_next(&requests, &item);) {
        struct request_json json;
        struct json_at list;

        TRY(json_member_array(&item, "firstAvailable", JSON_OPTIONAL, &list, err));
        TRY(json_len(&list) > 0 ? list_decode(&list, &json, err) : request_decode(&item, &json, err));
        /* Quotas count whole GPUs: claims on a part of one are not counted. */
        if (json.is_share && strcasestr(json.class, "gpu"))
            json.class = "";
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

/* Which share of a device it is matters to its driver alone; how much it takes, to whoever wants another. */
static int share_decode(struct arena *arena, const struct json_at *result, struct device_spec *device, struct err *err)
{
    struct json_at consumed;

    TRY(json_member_object(result, "consumedCapacity", JSON_OPTIONAL, &consumed, err));
    const char *share = json_peek_str(result, "shareID");
    device->is_share = share && *share;
    if (!device->is_share)
        return 0;
    return device_amounts_decode(arena, &consumed, NULL, &device->amounts, &device->amount_count, err);
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
        TRY(json_member_bool(&item, "adminAccess", JSON_OPTIONAL, &devices[count].is_admin, err));
        devices[count].request = json_peek_str(&item, "request");
        TRY(share_decode(arena, &item, &devices[count], err));
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
    TRY(devices_decode(&reader->scratch, &in, &spec, err));
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
        r = devices_decode(&reader->scratch, &in, &spec, err);
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
        .ask = claim->ask,
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
