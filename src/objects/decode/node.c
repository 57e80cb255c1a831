/* SPDX-License-Identifier: Apache-2.0 */

/* Nodes: what they have, their GPUs and how they are cut, and why they take no pods. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/amounts.h"
#include "objects/decode/decode.h"
#include "objects/keys.h"
#include "objects/notes.h"

/* Labels that are larger count bytes. */
#define BYTES_FROM INT64_C(1048576)
/* What a kubelet takes unless it is told otherwise; for nodes written by hand. */
enum { DEFAULT_PODS = 110 };

struct node_json {
    struct json_at spec;
    struct json_at status;
    bool is_unschedulable;
    struct json_at taints;
    struct json_at allocatable;
    struct json_at capacity;
    struct json_at conditions;
};

static int node_json_decode(const struct object *object, struct node_json *json, struct err *err)
{
    static const struct field in_root[] = {
        FIELD(node_json, spec, "spec", FIELD_OBJECT),
        FIELD(node_json, status, "status", FIELD_OBJECT),
    };
    static const struct field in_spec[] = {
        FIELD(node_json, is_unschedulable, "unschedulable", FIELD_BOOL),
        FIELD(node_json, taints, "taints", FIELD_ARRAY),
    };
    static const struct field in_status[] = {
        FIELD(node_json, allocatable, "allocatable", FIELD_OBJECT),
        FIELD(node_json, capacity, "capacity", FIELD_OBJECT),
        FIELD(node_json, conditions, "conditions", FIELD_ARRAY),
    };

    TRY(FIELDS_DECODE(&object->root, in_root, json, err));
    TRY(FIELDS_DECODE(&json->spec, in_spec, json, err));
    return FIELDS_DECODE(&json->status, in_status, json, err);
}

/* What a condition has to be; one that is not there does not hurt. */
static const struct condition {
    const char *type;
    const char *good;
    enum node_trouble trouble;
} conditions[] = {
    {"Ready", "True", NODE_NOT_READY},
    {"MemoryPressure", "False", NODE_MEMORY_PRESSURE},
    {"DiskPressure", "False", NODE_DISK_PRESSURE},
    {"PIDPressure", "False", NODE_PID_PRESSURE},
    {"NetworkUnavailable", "False", NODE_NETWORK_UNAVAILABLE},
};

static uint32_t troubles_of(const struct node_json *json)
{
    uint32_t troubles = json->is_unschedulable ? NODE_UNSCHEDULABLE : 0;

    for (struct json_at item = {0}; json_next(&json->conditions, &item);) {
        const char *type = json_peek_str(&item, "type");
        const char *status = json_peek_str(&item, "status");

        for (size_t i = 0; type && i < ARRAY_LEN(conditions); i++) {
            if (strcmp(type, conditions[i].type) == 0 && (!status || strcmp(status, conditions[i].good) != 0))
                troubles |= conditions[i].trouble;
        }
    }
    return troubles;
}

static const struct effect_word {
    const char *word;
    enum taint_effect effect;
} effect_words[] = {
    {"NoSchedule", TAINT_NO_SCHEDULE},
    {"PreferNoSchedule", TAINT_PREFER_NO_SCHEDULE},
    {"NoExecute", TAINT_NO_EXECUTE},
};

bool taint_effect_parse(const char *word, enum taint_effect *ret_effect)
{
    for (size_t i = 0; i < ARRAY_LEN(effect_words); i++) {
        if (strcmp(word, effect_words[i].word) == 0) {
            *ret_effect = effect_words[i].effect;
            return true;
        }
    }
    return false;
}

struct taint_json {
    const char *key;
    const char *value;
    const char *effect;
};

static int taints_decode(struct object_reader *reader, const struct json_at *at, struct node_spec *spec,
                         struct err *err)
{
    static const struct field fields[] = {
        FIELD_NEEDED(taint_json, key, "key", FIELD_STR),
        FIELD(taint_json, value, "value", FIELD_STR),
        FIELD_NEEDED(taint_json, effect, "effect", FIELD_STR),
    };
    struct taint_spec *taints = arena_calloc(&reader->scratch, json_len(at), sizeof *taints);
    size_t count = 0;

    for (struct json_at item = {0}; json_next(at, &item);) {
        struct taint_json json = {.value = ""};
        enum taint_effect effect;

        TRY(FIELDS_DECODE(&item, fields, &json, err));
        if (taint_effect_parse(json.effect, &effect))
            taints[count++] = (struct taint_spec){json.key, json.value, effect};
    }
    spec->taints = taints;
    spec->taint_count = count;
    return 0;
}

static int allocatable_decode(struct object_reader *reader, const struct node_json *json, struct node_spec *spec,
                              struct err *err)
{
    struct amounts_list all;
    size_t count = 0;

    amounts_init(&all, &reader->scratch);
    TRY(amounts_decode(&all, json->allocatable.val ? &json->allocatable : &json->capacity, err));
    if (amounts_get(&all, "pods") == 0 && !reader->options->is_whole)
        TRY(amounts_add(&all, "pods", DEFAULT_PODS, err));
    for (size_t i = 0; i < all.count; i++) {
        if (all.items[i].amount > 0)
            all.items[count++] = all.items[i];
    }
    spec->allocatable = all.items;
    spec->allocatable_count = count;
    return 0;
}

static bool is_true_word(const char *text)
{
    static const char *const words[] = {"1", "t", "T", "TRUE", "true", "True"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(text, words[i]) == 0)
            return true;
    }
    return false;
}

static void gpu_labels_decode(const struct object_reader *reader, const struct object *object, struct node_spec *spec)
{
    const char *memory = object_label(object, KEY_NODE_GPU_MEMORY);
    const char *count = object_label(object, KEY_NODE_GPU_COUNT);
    const char *mig = object_label(object, reader->options->mig_label);
    const char *strategy = object_label(object, KEY_NODE_MIG_STRATEGY);

    spec->is_gpu_memory_known = memory && int_parse(memory, 0, INT64_MAX, &spec->gpu_memory_mib);
    if (spec->gpu_memory_mib >= BYTES_FROM)
        spec->gpu_memory_mib /= BYTES_FROM;
    if (!count || !int_parse(count, 0, INT32_MAX, &spec->device_count))
        spec->device_count = -1;

    spec->is_mig_enabled = mig && is_true_word(mig);
    for (size_t i = 0; !mig && i < spec->allocatable_count; i++)
        spec->is_mig_enabled |= resource_is_mig(spec->allocatable[i].resource);
    if (spec->is_mig_enabled && strategy && strcmp(strategy, "single") == 0)
        spec->mig_strategy = MIG_SINGLE;
    else if (spec->is_mig_enabled && strategy && strcmp(strategy, "mixed") == 0)
        spec->mig_strategy = MIG_MIXED;
}

static uint32_t workers_of(const struct object_options *options, const struct object *object)
{
    return (object_label(object, options->cpu_worker_label) ? WORKER_CPU : 0U) |
           (object_label(object, options->gpu_worker_label) ? WORKER_GPU : 0U);
}

int node_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    struct node_spec spec = {.name = object->name};
    struct node_json json = {0};
    struct json_at meta;
    struct json_at labels = object_labels(object, &meta);

    if (reader_skips_pool(reader, object)) {
        state_drop_node(reader->state, object->name);
        return 0;
    }
    spec.workers = workers_of(reader->options, object);
    if (reader->options->restricts_nodes && !spec.workers) {
        object_notes_skip(reader->notes, "", "Node for neither CPU nor GPU workers");
        state_drop_node(reader->state, object->name);
        return 0;
    }
    spec.hides_gpus = reader->options->restricts_nodes && !(spec.workers & WORKER_GPU);
    TRY(node_json_decode(object, &json, err));
    TRY(pairs_decode(&reader->scratch, &labels, &spec.labels, &spec.label_count, err));
    TRY(taints_decode(reader, &json.taints, &spec, err));
    TRY(allocatable_decode(reader, &json, &spec, err));
    TRY(numa_decode(reader, object->name, &spec.numa, err));
    TRY(attach_limits_decode(reader, object->name, &spec, err));
    spec.troubles = troubles_of(&json);
    gpu_labels_decode(reader, object, &spec);
    return state_put_node(reader->state, &spec, err);
}
