/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/cluster_reading.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cluster/cluster_config.h"
#include "objects/kinds.h"
#include "objects/object.h"
#include "objects/owner.h"
#include "objects/reader.h"
#include "objects/settings/settings.h"
#include "objects/snapshot.h"
#include "text/yaml.h"

struct cluster_reading {
    struct arena arena;  // sources and their names
    VEC(yyjson_doc *) docs;
    VEC(struct yaml_docs) yaml;
    struct object_set set;
    struct object_notes *notes;
    struct settings settings;
    struct object_source *live;  // the source of the last live object
    bool has_snapshot;
};

struct cluster_reading *cluster_reading_new(struct object_notes *notes, nsec_t undated_from)
{
    struct cluster_reading *reading = xcalloc(1, sizeof *reading);

    arena_init(&reading->arena);
    object_set_init(&reading->set, notes);
    reading->set.undated_from = undated_from;
    reading->notes = notes;
    settings_init(&reading->settings);
    return reading;
}

void cluster_reading_free(struct cluster_reading *reading)
{
    if (!reading)
        return;
    settings_done(&reading->settings);
    object_set_done(&reading->set);
    vec_foreach (&reading->docs, doc)
        yyjson_doc_free(*doc);
    vec_done(&reading->docs);
    vec_foreach (&reading->yaml, docs)
        yaml_docs_done(docs);
    vec_done(&reading->yaml);
    arena_done(&reading->arena);
    free(reading);
}

void cluster_reading_freep(struct cluster_reading **reading)
{
    cluster_reading_free(*reading);
}

struct object_notes *cluster_reading_notes(struct cluster_reading *reading)
{
    return reading->notes;
}

static struct object_source *new_source(struct cluster_reading *reading, const char *name, const struct yaml_doc *yaml)
{
    struct object_source *source = ARENA_NEW(&reading->arena, struct object_source);

    source->name = arena_strdup(&reading->arena, name);
    source->yaml = yaml;
    return source;
}

static int add_document(struct cluster_reading *reading, yyjson_val *root, struct object_source *source,
                        struct err *err)
{
    if (!snapshot_is(root))
        return object_set_add(&reading->set, root, source, err);
    source->is_snapshot = true;
    reading->has_snapshot = true;
    return snapshot_add(&reading->set, &reading->settings, root, source, err);
}

int cluster_reading_add_json(struct cluster_reading *reading, yyjson_doc *doc, const char *name, bool is_found,
                             struct err *err)
{
    struct object_source *source = new_source(reading, name, NULL);

    vec_push(&reading->docs, doc);
    source->is_from_folder = is_found;
    return add_document(reading, yyjson_doc_get_root(doc), source, err);
}

int cluster_reading_add_yaml(struct cluster_reading *reading, struct yaml_docs *docs, const char *name, bool is_found,
                             struct err *err)
{
    struct yaml_docs own = *docs;
    int r = 0;

    *docs = (struct yaml_docs){0};
    vec_push(&reading->yaml, own);
    for (uint32_t i = 0; r >= 0 && i < own.len; i++) {
        struct object_source *source = new_source(reading, name, &own.items[i]);

        source->is_from_folder = is_found;
        r = add_document(reading, yyjson_doc_get_root(own.items[i].json), source, err);
    }
    return r;
}

int cluster_reading_add_live(struct cluster_reading *reading, const struct object_kind *kind, yyjson_doc *doc,
                             const char *name, struct err *err)
{
    vec_push(&reading->docs, doc);
    if (!reading->live || strcmp(reading->live->name, name) != 0)
        reading->live = new_source(reading, name, NULL);
    return object_set_add_as(&reading->set, kind, yyjson_doc_get_root(doc), reading->live, err);
}

const struct object_set *cluster_reading_set(const struct cluster_reading *reading)
{
    return &reading->set;
}

uint32_t cluster_reading_objects(const struct cluster_reading *reading)
{
    return reading->set.read_count;
}

uint32_t cluster_reading_made(const struct cluster_reading *reading)
{
    return reading->set.made_count;
}

struct usage_setting cluster_reading_usage(const struct cluster_reading *reading)
{
    struct usage_setting usage = reading->settings.usage;

    usage.source = (struct usage_source){0};  // its texts are the settings'
    return usage;
}

/* Whose replicas the PodGroups of single pods are: names for people, which the state does not keep. */
static void note_replicas(const struct cluster_reading *reading)
{
    const struct object_kind *kind = object_kind_of("scheduling.run.ai", "PodGroup");
    struct owner owner;

    for (const struct object *group = object_set_first(&reading->set, kind); group; group = group->next)
        if (!group->is_replaced && owner_of_replica(&reading->set, group, &owner))
            object_notes_add_replica(reading->notes,
                                     &(struct replica){group->namespace, group->name, owner.kind, owner.name});
}

int cluster_reading_build(struct cluster_reading *reading, const struct cluster_options *options, struct state *state,
                          struct config *config, struct err *err)
{
    struct object_options how;
    struct object_reader reader;

    int r = settings_decode_set(&reading->settings, &reading->set, options->shard, err);
    if (r < 0)
        return r;
    settings_sort(&reading->settings);
    r = cluster_config(&reading->settings, config, reading->notes, err);
    if (r < 0)
        return r;
    if (reading->settings.usage.is_on && reading->settings.usage.window_type != USAGE_SLIDING)
        object_notes_warn(reading->notes, "usageDBConfig.usageParams.windowType %s is simulated as sliding",
                          usage_window_name(reading->settings.usage.window_type));

    settings_to_options(&reading->settings, &how);
    how.is_whole = reading->has_snapshot;
    how.is_strict = !reading->live;
    how.now = options->now;
    if (options->has_partition) {
        how.has_partition = true;
        how.partition = options->partition;
    }
    object_reader_init(&reader, state, &how, &reading->set, reading->notes);
    r = object_set_decode(&reading->set, &reader, err);
    object_reader_done(&reader);
    note_replicas(reading);
    vec_foreach (&reading->settings.past_use, past)
        state_set_usage(state, past->queue, past->part);
    return r;
}
