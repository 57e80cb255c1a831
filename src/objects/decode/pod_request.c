/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a pod asks for. Containers run together, init containers one after the other before them, sidecars from their
 * turn on: the request is the larger of what runs in the end and the peak on the way, plus the pod's overhead. A limit
 * without a request is a request, as the API server would write it. Parts of GPUs are asked for by annotation.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/resources.h"
#include "objects/amounts.h"
#include "objects/decode/pod_internal.h"
#include "objects/keys.h"

/* Devices that one pod may share; more is a slip. */
enum { SHARED_DEVICES_MAX = 1024 };

bool container_is_sidecar(const struct json_at *container)
{
    const char *policy = json_peek_str(container, "restartPolicy");

    return policy && strcmp(policy, "Always") == 0;
}

/* The requests of one container, with limits where there is no request. */
static int container_decode(struct arena *arena, const struct json_at *container, struct amounts_list *ret_amounts,
                            struct err *err)
{
    struct json_at resources;
    struct json_at requests;
    struct json_at limits;

    amounts_init(ret_amounts, arena);
    TRY(json_object(container, err));
    TRY(json_member_object(container, "resources", JSON_OPTIONAL, &resources, err));
    TRY(json_member_object(&resources, "requests", JSON_OPTIONAL, &requests, err));
    TRY(json_member_object(&resources, "limits", JSON_OPTIONAL, &limits, err));
    TRY(amounts_decode(ret_amounts, &requests, err));
    for (struct json_at item = {0}; json_next(&limits, &item);) {
        int64_t amount = 0;

        TRY(amount_decode(&item, item.key, &amount, err));
        if (!yyjson_obj_get(requests.val, item.key))
            TRY(amounts_add(ret_amounts, item.key, amount, err));
    }
    return 0;
}

static int overhead_decode(struct arena *arena, const struct json_at *at, struct amounts_list *total, struct err *err)
{
    struct amounts_list overhead;

    amounts_init(&overhead, arena);
    TRY(amounts_decode(&overhead, at, err));
    for (size_t i = 0; i < overhead.count; i++) {
        if (!resource_is_gpu(overhead.items[i].resource))
            TRY(amounts_add(total, overhead.items[i].resource, overhead.items[i].amount, err));
    }
    return 0;
}

static int total_decode(struct arena *arena, const struct pod_json *json, struct amounts_list *total, struct err *err)
{
    struct amounts_list sidecars;
    struct amounts_list peak;
    struct amounts_list one;

    amounts_init(total, arena);
    amounts_init(&sidecars, arena);
    amounts_init(&peak, arena);
    for (struct json_at item = {0}; json_next(&json->containers, &item);) {
        TRY(container_decode(arena, &item, &one, err));
        TRY(amounts_add_all(total, &one, err));
    }
    for (struct json_at item = {0}; json_next(&json->init_containers, &item);) {
        TRY(container_decode(arena, &item, &one, err));
        if (container_is_sidecar(&item)) {
            TRY(amounts_add_all(&sidecars, &one, err));
        } else {
            TRY(amounts_add_all(&one, &sidecars, err));
            amounts_max_all(&peak, &one);
        }
    }
    TRY(amounts_add_all(total, &sidecars, err));
    amounts_max_all(total, &peak);
    return overhead_decode(arena, &json->overhead, total, err);
}

/* What the containers' resources make of the pod's class: collected over all of them. */
struct qos_facts {
    bool has_any;
    bool is_guaranteed;
};

static int qos_of_container(struct arena *arena, const struct json_at *container, struct qos_facts *facts,
                            struct err *err)
{
    static const char *const names[] = {"cpu", "memory"};
    struct json_at resources = json_member(container, "resources");
    struct json_at limits_at = json_member(&resources, "limits");
    struct amounts_list requests;
    struct amounts_list limits;

    amounts_init(&limits, arena);
    TRY(container_decode(arena, container, &requests, err));
    TRY(amounts_decode(&limits, &limits_at, err));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        int64_t request = amounts_get(&requests, names[i]);
        int64_t limit = amounts_get(&limits, names[i]);

        facts->has_any |= request > 0 || limit > 0;
        facts->is_guaranteed &= limit > 0 && request == limit;
    }
    return 0;
}

static int qos_decode(struct arena *arena, const struct pod_json *json, enum qos_class *ret_qos, struct err *err)
{
    static const struct {
        const char *word;
        enum qos_class qos;
    } words[] = {{"Guaranteed", QOS_GUARANTEED}, {"Burstable", QOS_BURSTABLE}, {"BestEffort", QOS_BEST_EFFORT}};
    struct qos_facts facts = {.is_guaranteed = true};

    for (size_t i = 0; json->qos && i < ARRAY_LEN(words); i++) {
        if (strcmp(json->qos, words[i].word) == 0) {
            *ret_qos = words[i].qos;
            return 0;
        }
    }
    for (struct json_at item = {0}; json_next(&json->containers, &item);)
        TRY(qos_of_container(arena, &item, &facts, err));
    for (struct json_at item = {0}; json_next(&json->init_containers, &item);)
        TRY(qos_of_container(arena, &item, &facts, err));
    *ret_qos = !facts.has_any ? QOS_BEST_EFFORT : facts.is_guaranteed ? QOS_GUARANTEED : QOS_BURSTABLE;
    return 0;
}

/* The sum, taken apart: devices to their own field, the rest in order; nothing that is 0. */
static void split_gpus(struct amounts_list *total, struct pod_spec *pod)
{
    struct request_spec *spec = &pod->request;
    size_t count = 0;

    for (size_t i = 0; i < total->count; i++) {
        const struct amount_spec *item = &total->items[i];

        if (resource_is_gpu(item->resource) && item->amount > 0) {
            pod->gpu_resource = spec->gpus > 0 ? "" : strcmp(item->resource, GPU_RESOURCE) == 0 ? NULL : item->resource;
            spec->gpus += item->amount / GPU_ONE;
        } else if (item->amount > 0 && strcmp(item->resource, "pods") != 0)
            total->items[count++] = *item;
        if (resource_is_mig(item->resource) && item->amount > 0)
            spec->kind = REQUEST_MIG;
    }
    total->count = count;
}

static int fraction_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                           struct request_spec *spec, struct err *err)
{
    struct json_at at = json_member(&json->annotations, KEY_GPU_FRACTION);
    const char *text = json_peek_str(&json->annotations, KEY_GPU_FRACTION);
    char *end = NULL;

    if (!at.val)
        return 0;
    double portion = text ? strtod(text, &end) : NAN;
    /* 1 is refused by admission but understood by the engine. */
    if (!text || end == text || *end != '\0' || !(portion > 0 && portion <= 1))
        return reader_object_to(reader, object, &at, err, "expected a number above 0 and below 1, found '%s'",
                                text ? text : "");
    spec->kind = REQUEST_FRACTION;
    spec->portion = portion;
    return 0;
}

static int memory_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                         struct request_spec *spec, struct err *err)
{
    struct json_at at = json_member(&json->annotations, KEY_GPU_MEMORY);
    const char *text = json_peek_str(&json->annotations, KEY_GPU_MEMORY);

    if (!at.val)
        return 0;
    if (!text || !int_parse(text, 1, INT32_MAX, &spec->memory_mib))
        return reader_object_to(reader, object, &at, err, "expected a whole number of MiB above 0, found '%s'",
                                text ? text : "");
    spec->kind = REQUEST_GPU_MEMORY;
    return 0;
}

static bool has_container(const struct json_at *containers, const char *name)
{
    for (struct json_at item = {0}; json_next(containers, &item);) {
        const char *found = json_peek_str(&item, "name");

        if (found && strcmp(found, name) == 0)
            return true;
    }
    return false;
}

/* Whose environment gets the shared GPU is the binder's concern; that there is such a container is everybody's. */
static int container_check(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                           struct err *err)
{
    struct json_at at = json_member(&json->annotations, KEY_GPU_CONTAINER);
    const char *name = json_peek_str(&json->annotations, KEY_GPU_CONTAINER);

    if (!name || has_container(&json->containers, name) || has_container(&json->init_containers, name))
        return 0;
    return reader_object_to(reader, object, &at, err, "the pod has no container called '%s'", name);
}

static int devices_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                          struct request_spec *spec, struct err *err)
{
    struct json_at at = json_member(&json->annotations, KEY_GPU_DEVICES);
    const char *text = json_peek_str(&json->annotations, KEY_GPU_DEVICES);
    int64_t devices = 1;

    if (!at.val)
        return 0;
    if (spec->kind != REQUEST_FRACTION && spec->kind != REQUEST_GPU_MEMORY)
        return reader_object_to(reader, object, &at, err,
                                "expected " KEY_GPU_FRACTION " or " KEY_GPU_MEMORY " on the same pod| it is ignored");
    if (!text || !int_parse(text, 1, SHARED_DEVICES_MAX, &devices))
        return reader_object_to(reader, object, &at, err, "expected a whole number from 1 to %d, found '%s'",
                                SHARED_DEVICES_MAX, text ? text : "");
    spec->devices = (uint32_t)devices;
    return 0;
}

/* MIG slices by annotation, as very old pods have them: such a pod keeps what it has and is never placed. */
static int legacy_mig_decode(const struct pod_json *json, struct amounts_list *total, struct request_spec *spec,
                             struct err *err)
{
    for (struct json_at item = {0}; json_next(&json->annotations, &item);) {
        const char *text = yyjson_get_str(item.val);
        int64_t count = 0;

        if (!resource_is_mig(item.key) || !text || !int_parse(text, 0, INT32_MAX, &count))
            continue;
        spec->kind = REQUEST_MIG;
        spec->is_legacy_mig = true;
        spec->gpus = 0;
        spec->portion = 0;
        spec->memory_mib = 0;
        if (amounts_get(total, item.key) == 0)
            TRY(amounts_add(total, item.key, count, err));
    }
    return 0;
}

int pod_request_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                       struct pod_spec *pod, struct err *err)
{
    struct request_spec *spec = &pod->request;
    struct amounts_list total;

    TRY(total_decode(&reader->scratch, json, &total, err));
    TRY(qos_decode(&reader->scratch, json, &spec->qos, err));
    split_gpus(&total, pod);
    TRY(memory_decode(reader, object, json, spec, err));
    TRY(fraction_decode(reader, object, json, spec, err));
    if (spec->portion > 0 && spec->memory_mib > 0)
        TRY(reader_object_to(reader, object, &json->annotations, err,
                             "expected one of " KEY_GPU_FRACTION " and " KEY_GPU_MEMORY "| the fraction counts"));
    if (spec->kind == REQUEST_FRACTION)
        spec->memory_mib = 0;
    if ((spec->kind == REQUEST_FRACTION || spec->kind == REQUEST_GPU_MEMORY) && spec->gpus > 0) {
        TRY(reader_object_to(
            reader, object, &json->annotations, err,
            "expected a part of a GPU or a limit of whole GPUs, found both: leave one out| the part counts"));
        spec->gpus = 0;
    }
    TRY(devices_decode(reader, object, json, spec, err));
    TRY(container_check(reader, object, json, err));
    TRY(legacy_mig_decode(json, &total, spec, err));
    spec->amounts = total.items;
    spec->amount_count = total.count;
    return 0;
}
