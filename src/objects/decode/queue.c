/* SPDX-License-Identifier: Apache-2.0 */

/* Queues: GPUs in devices, CPU in thousandths of cores, memory in 10^6 bytes, -1 for no limit. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "model/queue.h"
#include "objects/decode/decode.h"
#include "objects/notes.h"

enum { DEFAULT_PRIORITY = 100 };

/* The parent of all queues where the hierarchy does not count. */
#define FLAT_PARENT "default"

struct queue_json {
    const char *display_name;
    const char *parent;
    int32_t priority;
    nsec_t preempt_min_runtime;
    nsec_t reclaim_min_runtime;
    struct json_at resources;
};

static const struct share_row {
    const char *key;
    int resource;
    double unit;
} share_rows[] = {
    {"cpu", SHARE_CPU, 1},
    {"memory", SHARE_MEMORY, 1e6},
    {"gpu", SHARE_GPU, 1},
};

/* -1 is "unlimited" and stays; what is below it means the same. */
static double scale(double amount, double unit)
{
    double scaled = amount * unit;

    return scaled < UNLIMITED ? UNLIMITED : scaled;
}

/* A number of at least 0, or -1. */
static int bound_decode(struct object_reader *reader, const struct object *object, const struct json_at *share,
                        const char *key, double *ret_bound, struct err *err)
{
    struct json_at at = json_member(share, key);

    TRY(json_member_double(share, key, JSON_OPTIONAL, -INFINITY, 1e18, ret_bound, err));
    if (*ret_bound < 0 && *ret_bound != UNLIMITED)
        TRY(reader_object_to(reader, object, &at, err,
                             "expected 0 or more, or -1 for unlimited, found %g| it counts as unlimited", *ret_bound));
    return 0;
}

static int shares_decode(struct object_reader *reader, const struct object *object, const struct json_at *resources,
                         struct queue_spec *spec, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(share_rows); i++) {
        const struct share_row *row = &share_rows[i];
        struct json_at share;
        double quota = 0;
        double limit = 0;

        TRY(json_member_object(resources, row->key, JSON_OPTIONAL, &share, err));
        TRY(bound_decode(reader, object, &share, "quota", &quota, err));
        TRY(bound_decode(reader, object, &share, "limit", &limit, err));
        TRY(json_member_double(&share, "overQuotaWeight", JSON_OPTIONAL, 0, 1e18, &spec->weight[row->resource], err));
        spec->deserved[row->resource] = scale(quota, row->unit);
        spec->limit[row->resource] = scale(limit, row->unit);
    }
    return 0;
}

static int put_flat_parent(struct object_reader *reader, struct err *err)
{
    struct queue_spec spec = {.name = FLAT_PARENT, .priority = DEFAULT_PRIORITY};

    for (int i = 0; i < SHARE_COUNT; i++) {
        spec.deserved[i] = UNLIMITED;
        spec.limit[i] = UNLIMITED;
        spec.weight[i] = 1;
    }
    return state_put_queue(reader->state, &spec, err);
}

int queue_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    static const struct field fields[] = {
        FIELD(queue_json, display_name, "displayName", FIELD_STR),
        FIELD(queue_json, parent, "parentQueue", FIELD_STR),
        FIELD(queue_json, priority, "priority", FIELD_INT32),
        FIELD(queue_json, preempt_min_runtime, "preemptMinRuntime", FIELD_DURATION),
        FIELD(queue_json, reclaim_min_runtime, "reclaimMinRuntime", FIELD_DURATION),
        FIELD(queue_json, resources, "resources", FIELD_OBJECT),
    };
    struct queue_json json = {.parent = "", .priority = DEFAULT_PRIORITY};
    struct queue_spec spec = {.name = object->name, .uid = object->has_uid ? object->uid : NULL};
    struct json_at in;

    if (reader_skips_pool(reader, object)) {
        state_drop_queue(reader->state, object->name);
        return 0;
    }
    TRY(json_member_object(&object->root, "spec", JSON_OPTIONAL, &in, err));
    TRY(FIELDS_DECODE(&in, fields, &json, err));
    if (!json.resources.val)
        object_notes_warn(
            reader->notes,
            "Queue %s: spec.resources is missing, so that all limits are 0 and no pod of the queue can run",
            object->name);
    TRY(shares_decode(reader, object, &json.resources, &spec, err));
    if (reader->options->flattens_queues) {
        if (!*json.parent)
            return 0;
        TRY(put_flat_parent(reader, err));
        json.parent = FLAT_PARENT;
    }
    spec.display_name = json.display_name && *json.display_name ? json.display_name : NULL;
    spec.parent = json.parent;
    spec.priority = json.priority;
    spec.created = object->created;
    spec.has_preempt_min_runtime = json_peek_str(&in, "preemptMinRuntime") != NULL;
    spec.has_reclaim_min_runtime = json_peek_str(&in, "reclaimMinRuntime") != NULL;
    spec.preempt_min_runtime = json.preempt_min_runtime;
    spec.reclaim_min_runtime = json.reclaim_min_runtime;
    return state_put_queue(reader->state, &spec, err);
}
