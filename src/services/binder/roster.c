/* SPDX-License-Identifier: Apache-2.0 */
#include "services/binder/roster.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/macros.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "objects/keys.h"
#include "services/binder/documents/names.h"
#include "services/binder/extract.h"

enum { GROUPS_OF_POD_MAX = 1024 };

void roster_init(struct roster *roster, const char *reservation_namespace, const char *scaling_namespace,
                 const char *scheduler)
{
    *roster = (struct roster){
        .reservation_namespace = reservation_namespace,
        .scaling_namespace = scaling_namespace,
        .scheduler = scheduler,
    };
    strmap_init(&roster->by_name);
    strmap_init(&roster->by_group);
}

static void pod_free(struct roster_pod *pod)
{
    free(pod->namespace);
    free(pod->name);
    free(pod->uid);
    free(pod->node);
    free(pod->gpu);
    free(pod->sharer);
    free(pod->groups);
    free(pod);
}

static void group_free(struct roster_group *group)
{
    vec_done(&group->pods);
    free(group->id);
    free(group);
}

void roster_done(struct roster *roster)
{
    struct roster_pod *pod;
    struct roster_group *group;

    for (size_t cursor = 0; (pod = strmap_next(&roster->by_name, &cursor));)
        pod_free(pod);
    for (size_t cursor = 0; (group = strmap_next(&roster->by_group, &cursor));)
        group_free(group);
    strmap_done(&roster->by_name);
    strmap_done(&roster->by_group);
}

struct roster_pod *roster_find(const struct roster *roster, const char *namespace, const char *name)
{
    return strmap_get(&roster->by_name, namespace, name);
}

struct roster_group *roster_find_group(const struct roster *roster, const char *id)
{
    return strmap_get(&roster->by_group, "", id);
}

struct roster_group *roster_next_group(const struct roster *roster, size_t *cursor)
{
    return strmap_next(&roster->by_group, cursor);
}

void roster_change_done(struct roster_change *change)
{
    vec_foreach (&change->groups, id)
        free(*id);
    vec_done(&change->groups);
}

static void note_group(struct roster_change *change, const char *id)
{
    vec_foreach (&change->groups, known)
        if (strcmp(*known, id) == 0)
            return;
    vec_push(&change->groups, xstrdup(id));
}

static struct roster_group *group_get(struct roster *roster, const char *id)
{
    struct roster_group *group = roster_find_group(roster, id);

    if (group)
        return group;
    group = xcalloc(1, sizeof *group);
    group->id = xstrdup(id);
    (void)strmap_put(&roster->by_group, "", group->id, group);
    roster->groups++;
    return group;
}

static void group_drop(struct roster *roster, struct roster_group *group)
{
    (void)strmap_remove(&roster->by_group, "", group->id);
    roster->groups--;
    group_free(group);
}

static void join(struct roster *roster, struct roster_pod *pod, const char *id, struct roster_change *change)
{
    if (pod->group_count == GROUPS_OF_POD_MAX)
        return;
    struct roster_group *group = group_get(roster, id);

    for (uint32_t i = 0; i < pod->group_count; i++)
        if (pod->groups[i] == group)
            return;
    pod->groups = xreallocarray(pod->groups, pod->group_count + 1, sizeof(struct roster_group *));
    pod->groups[pod->group_count++] = group;
    vec_push(&group->pods, pod);
    note_group(change, id);
}

static void leave_all(struct roster *roster, struct roster_pod *pod, struct roster_change *change)
{
    for (uint32_t i = 0; i < pod->group_count; i++) {
        struct roster_group *group = pod->groups[i];

        note_group(change, group->id);
        for (uint32_t at = 0; at < group->pods.len; at++)
            if (group->pods.items[at] == pod) {
                vec_remove_at(&group->pods, at);
                break;
            }
        if (group->pods.len == 0)
            group_drop(roster, group);
    }
    pod->group_count = 0;
}

static void forget(struct roster *roster, struct roster_pod *pod, struct roster_change *change)
{
    (void)strmap_remove(&roster->by_name, pod->namespace, pod->name);
    change->is_reservation |= pod->is_reservation;
    roster->scaling -= pod->is_scaling;
    roster->pods--;
    leave_all(roster, pod, change);
    pod_free(pod);
}

static bool is_over(yyjson_val *pod)
{
    const char *phase = kube_text(pod, "status", "phase");

    return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

static bool has_condition(yyjson_val *pod, const char *type, const char *status)
{
    yyjson_val *conditions = yyjson_obj_get(yyjson_obj_get(pod, "status"), "conditions");
    yyjson_val *condition;
    size_t i, max;

    yyjson_arr_foreach(conditions, i, max, condition)
    {
        if (strcmp(kube_text(condition, "type"), type) == 0)
            return strcmp(kube_text(condition, "status"), status) == 0;
    }
    return false;
}

uint64_t condition_hash_of(const char *status, const char *reason, const char *message)
{
    uint64_t hash = hash_str(status, 0);

    hash = hash_str(reason, hash);
    hash = hash_str(message, hash);
    return hash ? hash : 1;
}

uint64_t condition_hash(yyjson_val *pod)
{
    yyjson_val *conditions = yyjson_obj_get(yyjson_obj_get(pod, "status"), "conditions");
    yyjson_val *condition;
    size_t i, max;

    yyjson_arr_foreach(conditions, i, max, condition)
    {
        if (strcmp(kube_text(condition, "type"), "PodBound") == 0)
            return condition_hash_of(kube_text(condition, "status"), kube_text(condition, "reason"),
                                     kube_text(condition, "message"));
    }
    return 0;
}

/* Volumes that need binding, or claims of devices. */
static bool has_more(yyjson_val *spec)
{
    yyjson_val *volumes = yyjson_obj_get(spec, "volumes");
    yyjson_val *volume;
    size_t i, max;

    yyjson_arr_foreach(volumes, i, max, volume)
    {
        if (yyjson_obj_get(volume, "persistentVolumeClaim") || yyjson_obj_get(volume, "ephemeral"))
            return true;
    }
    return yyjson_arr_size(yyjson_obj_get(spec, "resourceClaims")) > 0;
}

/* Both forms of the label: of one shared GPU, and of several. */
static void join_groups(struct roster *roster, struct roster_pod *to, yyjson_val *pod, struct roster_change *change)
{
    yyjson_val *labels = yyjson_obj_get(yyjson_obj_get(pod, "metadata"), "labels");
    yyjson_val *key, *value;
    size_t i, max;

    yyjson_obj_foreach(labels, i, max, key, value)
    {
        const char *name = yyjson_get_str(key);
        const char *id = yyjson_get_str(value);

        if (id && id[0] && sharing_is_group_label(name))
            join(roster, to, id, change);
    }
}

static void replace(char **text, const char *by)
{
    if (*text && strcmp(*text, by) == 0)
        return;
    free(*text);
    *text = xstrdup(by);
}

static void read_pod(struct roster *roster, struct roster_pod *to, yyjson_val *pod, struct roster_change *change)
{
    const char *phase = kube_text(pod, "status", "phase");

    replace(&to->node, kube_text(pod, "spec", "nodeName"));
    replace(&to->gpu, to->is_reservation ? annotation_of(pod, KEY_RESERVED_GPU) : "");
    to->bound = condition_hash(pod);
    to->is_running = strcmp(phase, "Running") == 0;
    to->is_alive = to->is_running || strcmp(phase, "Pending") == 0 || !phase[0];
    to->is_deleting = kube_text(pod, "metadata", "deletionTimestamp")[0];
    to->is_ours = strcmp(kube_text(pod, "spec", "schedulerName"), roster->scheduler) == 0;
    to->is_on_its_way = to->is_ours && to->is_alive && !to->node[0] && !has_condition(pod, "PodScheduled", "False");
    to->has_more = has_more(yyjson_obj_get(pod, "spec"));
    free(to->sharer);
    to->sharer = to->is_ours && !to->node[0] ? extract_sharer(pod) : NULL;
    roster->scaling -= to->is_scaling;
    to->is_scaling =
        strcmp(to->namespace, roster->scaling_namespace) == 0 && !has_condition(pod, "PodScheduled", "True");
    roster->scaling += to->is_scaling;
    leave_all(roster, to, change);
    join_groups(roster, to, pod, change);
    change->is_reservation |= to->is_reservation;
}

static struct roster_pod *add(struct roster *roster, const struct kube_meta *meta)
{
    struct roster_pod *pod = xcalloc(1, sizeof *pod);

    *pod = (struct roster_pod){
        .namespace = xstrdup(meta->namespace),
        .name = xstrdup(meta->name),
        .uid = xstrdup(meta->uid),
        .is_reservation = strcmp(meta->namespace, roster->reservation_namespace) == 0,
    };
    (void)strmap_put(&roster->by_name, pod->namespace, pod->name, pod);
    roster->pods++;
    return pod;
}

bool roster_is_gone(const struct roster *roster, const char *uid)
{
    uint64_t hash = hash_str(uid, 0);

    for (size_t i = 0; i < ARRAY_LEN(roster->gone); i++)
        if (roster->gone[i] == hash)
            return true;
    return false;
}

struct roster_pod *roster_put(struct roster *roster, yyjson_val *object, struct roster_change *change)
{
    struct kube_meta meta;

    if (!kube_meta_read(object, &meta))
        return NULL;
    struct roster_pod *pod = roster_find(roster, meta.namespace, meta.name);
    uint64_t version = strtoull(meta.resource_version, NULL, 10);

    if (pod && strcmp(pod->uid, meta.uid) == 0 && version < pod->version)
        return pod;
    if (pod && (strcmp(pod->uid, meta.uid) != 0 || is_over(object))) {
        forget(roster, pod, change);
        pod = NULL;
    }
    if (is_over(object) || roster_is_gone(roster, meta.uid))
        return NULL;
    if (!pod)
        pod = add(roster, &meta);
    pod->version = version;
    read_pod(roster, pod, object, change);
    if (pod->node[0] && pod->group_count == 0 && !pod->is_reservation && !pod->is_scaling) {
        forget(roster, pod, change);
        return NULL;
    }
    return pod;
}

void roster_remove(struct roster *roster, const char *namespace, const char *name, const char *uid,
                   struct roster_change *change)
{
    struct roster_pod *pod = roster_find(roster, namespace, name);

    roster->gone[roster->gone_next++ % ARRAY_LEN(roster->gone)] = hash_str(uid, 0);
    if (pod && strcmp(pod->uid, uid) == 0)
        forget(roster, pod, change);
}

struct roster_pod *roster_reservation(const struct roster_group *group)
{
    struct roster_pod *found = NULL;

    if (!group)
        return NULL;
    vec_foreach (&group->pods, pod)
        if ((*pod)->is_reservation && (!found || (found->is_deleting && !(*pod)->is_deleting)))
            found = *pod;
    return found;
}

enum group_action group_decide(const struct roster_group *group, bool is_wanted)
{
    bool has_reservation = false, is_used = false, has_running = false;

    vec_foreach (&group->pods, at) {
        const struct roster_pod *pod = *at;

        has_reservation |= pod->is_reservation;
        is_used |= !pod->is_reservation && pod->is_alive;
        has_running |= !pod->is_reservation && pod->is_ours && pod->is_running && !pod->is_deleting;
    }
    if (has_reservation && !is_used && !is_wanted)
        return GROUP_RELEASE;
    return !has_reservation && has_running ? GROUP_ORPHANS : GROUP_FINE;
}

bool group_is_on(const struct roster_group *group, const char *node)
{
    vec_foreach (&group->pods, pod)
        if (strcmp((*pod)->node, node) == 0)
            return true;
    return false;
}
