/* SPDX-License-Identifier: Apache-2.0 */

/* From a set of objects to a state: children of workloads, groups of pods, then deltas phase by phase. */
#include "objects/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "model/delta.h"
#include "model/queue.h"
#include "objects/decode/decode.h"
#include "objects/group/group.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "objects/make/maker.h"
#include "objects/notes.h"

void object_options_init(struct object_options *options)
{
    *options = (struct object_options){
        .scheduler_name = KEY_SCHEDULER_NAME,
        .queue_label = KEY_QUEUE,
        .node_pool_label = KEY_NODE_POOL,
        .mig_label = KEY_NODE_MIG_ENABLED,
        .cpu_worker_label = KEY_NODE_CPU_WORKER,
        .gpu_worker_label = KEY_NODE_GPU_WORKER,
        .reservation_app = KEY_APP_RESERVATION,
        .partition = "",
        .is_strict = true,
        .stuck_threshold = 2 * NSEC_PER_MIN,
    };
}

void object_reader_init(struct object_reader *reader, struct state *state, const struct object_options *options,
                        const struct object_set *objects, struct object_notes *notes)
{
    *reader = (struct object_reader){
        .state = state,
        .options = options,
        .objects = objects,
        .notes = notes,
        .knows_config_maps = true,
        .knows_volume_claims = true,
    };
    arena_init(&reader->scratch);
}

void object_reader_done(struct object_reader *reader)
{
    arena_done(&reader->scratch);
}

bool object_in_partition(const struct object_options *options, const struct object *object)
{
    const char *pool = object_label(object, options->node_pool_label);

    if (!options->has_partition)
        return true;
    return *options->partition ? pool && strcmp(pool, options->partition) == 0 : pool == NULL;
}

bool reader_skips_pool(struct object_reader *reader, const struct object *object)
{
    char text[64];

    if (object_in_partition(reader->options, object))
        return false;
    (void)snprintf(text, sizeof text, "%s of another node pool", object->kind->kind);
    object_notes_skip(reader->notes, "", text);
    return true;
}

static bool is_from_snapshot(const struct object *object)
{
    return object->source && object->source->is_snapshot;
}

int reader_object_to(struct object_reader *reader, const struct object *object, const struct json_at *at,
                     struct err *err, const char *format, ...)
{
    char what[256];
    char path[128];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    char *instead = strchr(what, '|');
    if (reader->options->is_strict && !is_from_snapshot(object)) {
        if (instead)
            *instead = '\0';
        return json_fail(at, err, -EINVAL, "%s", what);
    }
    if (instead)
        *instead = ';';
    object_notes_warn(reader->notes, "%s %s%s%s: %s: %s", object->kind->kind, object->namespace,
                      *object->namespace ? "/" : "", object->name, json_path(at, path, sizeof path), what);
    return 0;
}

int object_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    if (!object->kind->decode)
        return 0;
    int r = object->kind->decode(reader, object, err);
    arena_clear(&reader->scratch);
    return r < 0 ? object_wrap(object, r, err) : 0;
}

void object_drop(struct state *state, const struct object *object)
{
    if (object->kind->drop)
        object->kind->drop(state, object);
}

static struct object *find_owner(struct object_set *set, const struct object *object, const struct json_at *reference)
{
    const char *api_version = json_peek_str(reference, "apiVersion");
    const char *kind_name = json_peek_str(reference, "kind");
    const char *name = json_peek_str(reference, "name");
    const char *uid = json_peek_str(reference, "uid");
    struct object *owner = uid && *uid ? object_set_find_uid(set, uid) : NULL;
    const struct object_kind *kind = kind_name ? object_kind_find(api_version ? api_version : "", kind_name) : NULL;

    if (owner || !kind || !name)
        return owner;
    return object_set_find(set, kind, kind->is_cluster_wide ? "" : object->namespace, name);
}

/* Marks whoever is named as an owner: its controller has been at work already. */
static void mark_owners(struct object_set *set)
{
    for (uint32_t i = 0; i < set->objects.len; i++) {
        const struct object *object = set->objects.items[i];
        struct json_at meta = json_member(&object->root, "metadata");
        struct json_at owners = json_member(&meta, "ownerReferences");

        /* A pod group or a config map that a workload owns says nothing about its pods. */
        if (!object->kind->make && !object->kind->group_pods)
            continue;
        for (struct json_at item = {0}; json_next(&owners, &item);) {
            struct object *owner = find_owner(set, object, &item);

            if (owner)
                owner->has_children = true;
        }
    }
}

/* Children of made workloads come after them in the list and are met by the same walk. */
static int make_children(struct object_set *set, const struct object_reader *reader, struct err *err)
{
    struct arena arena;
    struct maker maker = {.set = set, .options = reader->options, .notes = reader->notes, .arena = &arena};
    int r = 0;

    arena_init(&arena);
    for (uint32_t i = 0; r >= 0 && i < set->objects.len; i++) {
        const struct object *object = set->objects.items[i];

        if (object->is_replaced || object->has_children)
            continue;
        if (object->kind->make) {
            r = object->kind->make(&maker, object, err);
            if (r < 0)
                (void)object_wrap(object, r, err);
        } else if (object->kind->group_pods && !object->kind->decode) {
            object_notes_skip(reader->notes, object->kind->group, object->kind->kind);
        }
        arena_clear(&arena);
    }
    arena_done(&arena);
    return r < 0 ? r : 0;
}

static int group_pods(struct object_set *set, const struct object_reader *reader, struct err *err)
{
    for (struct object *pod = object_set_first(set, object_kind_of("", "Pod")); pod; pod = pod->next) {
        if (!pod->is_replaced && !is_from_snapshot(pod))
            TRY(group_pod(set, pod, reader->options, reader->notes, err));
    }
    return 0;
}

/* The classes that KAI's chart installs and those of Kubernetes itself; the input's own replace them. */
static int put_installed_classes(struct state *state, struct err *err)
{
    static const struct {
        const char *name;
        int32_t value;
    } installed[] = {
        {"train", 50},
        {"build-preemptible", 75},
        {"build", 100},
        {"inference", 125},
        {"system-cluster-critical", 2000000000},
        {"system-node-critical", 2000001000},
    };

    for (size_t i = 0; i < ARRAY_LEN(installed); i++)
        TRY(state_put_priority_class(state, installed[i].name, installed[i].value, false, err));
    return 0;
}

/* The queues that KAI's chart installs, for an input that has none. */
static int put_installed_queues(struct object_reader *reader, struct err *err)
{
    struct queue_spec spec = {.name = KEY_DEFAULT_PARENT_QUEUE, .priority = 100};

    for (int i = 0; i < SHARE_COUNT; i++) {
        spec.deserved[i] = UNLIMITED;
        spec.limit[i] = UNLIMITED;
        spec.weight[i] = 1;
    }
    TRY(state_put_queue(reader->state, &spec, err));
    spec.parent = spec.name;
    spec.name = KEY_DEFAULT_QUEUE;
    object_notes_warn(reader->notes, "the input has no queues; queue %s is added, without limits", KEY_DEFAULT_QUEUE);
    return state_put_queue(reader->state, &spec, err);
}

static bool has_kind(const struct object_set *set, const char *group, const char *kind)
{
    return object_set_first(set, object_kind_of(group, kind)) != NULL;
}

/* An input of manifests leaves out what every cluster has; a snapshot does not. */
static int put_installed(struct object_set *set, struct object_reader *reader, struct err *err)
{
    if (reader->options->is_whole)
        return 0;
    reader->knows_config_maps = has_kind(set, "", "ConfigMap");
    reader->knows_volume_claims = has_kind(set, "", "PersistentVolumeClaim");
    TRY(put_installed_classes(reader->state, err));
    return has_kind(set, "scheduling.run.ai", "Queue") ? 0 : put_installed_queues(reader, err);
}

int object_set_decode(struct object_set *set, struct object_reader *reader, struct err *err)
{
    mark_owners(set);
    TRY(make_children(set, reader, err));
    TRY(group_pods(set, reader, err));
    TRY(put_installed(set, reader, err));
    for (int phase = PHASE_CLASSES; phase < _PHASE_MAX; phase++) {
        for (uint32_t i = 0; i < set->objects.len; i++) {
            const struct object *object = set->objects.items[i];

            if ((int)object->kind->phase == phase && !object->is_replaced)
                TRY(object_decode(reader, object, err));
        }
    }
    reader_note_doubts(set, reader);
    return 0;
}
