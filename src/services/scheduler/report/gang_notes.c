/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Times of a gang are kept to the second, as its annotations have them. What the state has is what counts: the engine sets
 * it, and whatever an annotation shows that is older is on its way to be overwritten.
 */
#include "services/scheduler/report/gang_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/macros.h"
#include "base/map.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "model/delta.h"
#include "objects/keys.h"
#include "services/scheduler/carry/writes.h"
#include "services/scheduler/observe/observer.h"
#include "services/scheduler/setup.h"
#include "text/json.h"

struct gang_notes {
    struct state *state;
    const struct setup *setup;
    struct writes *writes;
    struct observers *observers;
    struct map64 by_key;       // -> struct gang_note *
    struct map64 conditioned;  // the same, those whose PodGroup has scheduling conditions
};

struct gang_notes *gang_notes_new(struct state *state, const struct setup *setup, struct writes *writes,
                                  struct observers *observers)
{
    struct gang_notes *notes = xcalloc(1, sizeof *notes);

    *notes = (struct gang_notes){.state = state, .setup = setup, .writes = writes, .observers = observers};
    return notes;
}

static struct gang_note *next_in(const struct map64 *map, size_t *cursor)
{
    uint64_t key, value;

    return map64_next(map, cursor, &key, &value) ? (struct gang_note *)(uintptr_t)value : NULL;
}

struct gang_note *gang_notes_next(const struct gang_notes *notes, size_t *cursor)
{
    return next_in(&notes->by_key, cursor);
}

struct gang_note *gang_notes_next_conditioned(const struct gang_notes *notes, size_t *cursor)
{
    return next_in(&notes->conditioned, cursor);
}

void gang_notes_free(struct gang_notes *notes)
{
    struct gang_note *note;

    if (!notes)
        return;
    for (size_t cursor = 0; (note = gang_notes_next(notes, &cursor));)
        free(note);
    map64_done(&notes->by_key);
    map64_done(&notes->conditioned);
    free(notes);
}

struct gang_note *gang_note_find(const struct gang_notes *notes, object_key key)
{
    uint64_t value = 0;

    return map64_get(&notes->by_key, key, &value) ? (struct gang_note *)(uintptr_t)value : NULL;
}

static struct gang_note *note_put(struct gang_notes *notes, object_key key)
{
    struct gang_note *note = gang_note_find(notes, key);

    if (note)
        return note;
    note = xcalloc(1, sizeof *note);
    note->key = key;
    map64_put(&notes->by_key, key, (uint64_t)(uintptr_t)note);
    return note;
}

void gang_note_drop(struct gang_notes *notes, object_key key)
{
    struct gang_note *note = gang_note_find(notes, key);

    if (!note)
        return;
    (void)map64_remove(&notes->by_key, key);
    (void)map64_remove(&notes->conditioned, key);
    free(note);
}

static nsec_t annotated_time(yyjson_val *pod_group, const char *key)
{
    nsec_t time = 0;

    return time_parse(kube_text(pod_group, "metadata", "annotations", key), &time, NULL) >= 0 ? time : 0;
}

static uint64_t content_hash(const struct gang_notes *notes, yyjson_val *pod_group)
{
    yyjson_val *spec = yyjson_obj_get(pod_group, "spec");
    char *text = spec ? yyjson_val_write(spec, 0, NULL) : NULL;
    uint64_t hash = hash_str(text ? text : "", 0);

    free(text);
    hash = hash_str(kube_text(pod_group, "metadata", "labels", notes->setup->options.node_pool_label), hash);
    hash = hash_str(kube_text(pod_group, "metadata", "annotations", KEY_LAST_START), hash);
    hash = hash_str(kube_text(pod_group, "metadata", "annotations", KEY_LAST_EVICTION), hash);
    return hash_str(kube_text(pod_group, "metadata", "annotations", KEY_STALE_SINCE), hash);
}

uint64_t scheduling_condition_hash(const char *reason, const char *message)
{
    return hash_str(message, hash_str(reason, 0));
}

static void read_conditions(struct gang_notes *notes, struct gang_note *note, yyjson_val *pod_group)
{
    yyjson_val *list = yyjson_obj_get(yyjson_obj_get(pod_group, "status"), "schedulingConditions");
    yyjson_val *last = yyjson_arr_get_last(list);

    if (yyjson_arr_size(list) > 0)
        map64_put(&notes->conditioned, note->key, (uint64_t)(uintptr_t)note);
    else
        (void)map64_remove(&notes->conditioned, note->key);
    note->condition = last && strcmp(kube_text(last, "nodePool"), notes->setup->pool_name) == 0
                          ? scheduling_condition_hash(kube_text(last, "reason"), kube_text(last, "message"))
                          : 0;
}

bool gang_note_read(struct gang_notes *notes, object_key key, yyjson_val *pod_group)
{
    struct gang_note *note = note_put(notes, key);
    yyjson_val *spec = yyjson_obj_get(pod_group, "spec");
    yyjson_val *marks = yyjson_obj_get(spec, "markUnschedulable");
    name_id uid = name_put(notes->state, kube_text(pod_group, "metadata", "uid"));
    uint64_t content = content_hash(notes, pod_group);
    bool is_new = note->uid != uid || note->content != content;

    note->uid = uid;
    note->content = content;
    note->priority_class = name_put(notes->state, kube_text(spec, "priorityClassName"));
    note->marks_pods = !yyjson_is_bool(marks) || yyjson_get_bool(marks);
    note->names_pool = yyjson_get_sint(yyjson_obj_get(spec, "schedulingBackoff")) == 1;
    note->last_start = annotated_time(pod_group, KEY_LAST_START);
    note->last_eviction = annotated_time(pod_group, KEY_LAST_EVICTION);
    note->stale_since = annotated_time(pod_group, KEY_STALE_SINCE);
    read_conditions(notes, note, pod_group);
    return is_new;
}

static nsec_t to_second(nsec_t time)
{
    return time - time % NSEC_PER_SEC;
}

static void add_time(yyjson_mut_doc *doc, yyjson_mut_val *annotations, const char *key, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    if (time == 0)
        (void)yyjson_mut_obj_add_null(doc, annotations, key);
    else
        (void)yyjson_mut_obj_add_strcpy(doc, annotations, key, time_format(to_second(time), text));
}

void gang_times_write(struct gang_notes *notes, gang_id id)
{
    const struct gang *gang = &notes->state->gangs.items[id];
    object_key key = key_of(gang->namespace, gang->name);
    struct gang_note *note = gang_note_find(notes, key);

    if (!note ||
        (note->last_start == to_second(gang->last_start) && note->last_eviction == to_second(gang->last_eviction) &&
         note->stale_since == to_second(gang->stale_since)))
        return;

    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *annotations = yyjson_mut_obj_add_obj(doc, meta, "annotations");
    add_time(doc, annotations, KEY_LAST_START, gang->last_start);
    add_time(doc, annotations, KEY_LAST_EVICTION, gang->last_eviction);
    add_time(doc, annotations, KEY_STALE_SINCE, gang->stale_since);
    writes_put(notes->writes, &(struct write){
                                  .kind = WRITE_GANG_TIMES,
                                  .key = key,
                                  .verb = KUBE_PATCH_MERGE,
                                  .resource = kube_known(KUBE_POD_GROUPS),
                                  .doc = doc,
                              });
    yyjson_mut_doc_free(doc);
}

struct gang_times gang_times_get(const struct gang_notes *notes, object_key key)
{
    gang_id id = key_gang(notes->state, key);

    if (id == NO_ID)
        return (struct gang_times){0};
    const struct gang *gang = &notes->state->gangs.items[id];
    return (struct gang_times){true, gang->last_start, gang->last_eviction, gang->stale_since};
}

void gang_times_keep(struct gang_notes *notes, object_key key, const struct gang_times *before)
{
    gang_id id = key_gang(notes->state, key);
    const struct gang_note *note = gang_note_find(notes, key);

    if (id == NO_ID || !before->is_known)
        return;
    const struct gang *gang = &notes->state->gangs.items[id];
    bool is_late = note && (to_second(before->last_start) > gang->last_start ||
                            to_second(before->last_eviction) > gang->last_eviction ||
                            writes_has(notes->writes, WRITE_GANG_TIMES, key));
    if (is_late) {
        state_set_gang_times(notes->state, id, MAX(before->last_start, gang->last_start),
                             MAX(before->last_eviction, gang->last_eviction), before->stale_since);
        OBSERVE(notes->observers, on_gang_times, id);
    }
    gang_times_write(notes, id);
}
