/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pods. What the cluster shows of a pod may be older than what we have decided about it: its placement and its eviction
 * are laid over what is read.
 *
 * A pod of ours without an owner is placed as a group of its own at once, the one that the grouper will make for it: its
 * PodGroup may come after the bind. Pods with owners wait, since owners may ask for more than the pod shows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "kube/client/meta.h"
#include "model/delta.h"
#include "objects/group/group.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "services/scheduler/carry/carry.h"
#include "services/scheduler/context.h"
#include "services/scheduler/hash.h"
#include "services/scheduler/intake/complain.h"
#include "services/scheduler/intake/intake_internal.h"
#include "services/scheduler/report/gang_notes.h"
#include "services/scheduler/report/report.h"
#include "text/json.h"
#include "words/verdict_text.h"

enum { STRAY_TEXT_MAX = 2048 };

/* What of a pod makes a cycle worth its while. */
struct pod_image {
    uint32_t is_present;  // as wide as the others: without padding, images can be compared whole
    uint32_t status;
    node_id node;
    gang_id gang;
    uint32_t pod_set;
    request_id request;
    constraints_id constraints;
    labels_id labels;
    name_id uid;
};

static struct pod_image image_of(const struct state *state, object_key key)
{
    pod_id id = key_pod(state, key);
    struct pod_image image;

    memset(&image, 0, sizeof image);
    if (id == NO_ID)
        return image;
    const struct pod *pod = &state->pods.items[id];
    image.is_present = true;
    image.status = pod->status;
    image.node = pod->node;
    image.gang = pod->gang;
    image.pod_set = pod->pod_set;
    image.request = pod->request;
    image.constraints = pod->constraints;
    image.labels = pod->labels;
    image.uid = pod->uid;
    return image;
}

static bool is_ours(const struct scheduler *s, yyjson_val *pod)
{
    return strcmp(kube_text(pod, "spec", "schedulerName"), s->options.scheduler_name) == 0;
}

/* Has the value a member of that name somewhere? */
static bool has_member(yyjson_val *val, const char *name)
{
    size_t i, count;
    yyjson_val *key, *item;

    if (yyjson_is_obj(val)) {
        yyjson_obj_foreach(val, i, count, key, item)
        {
            if (strcmp(yyjson_get_str(key), name) == 0 || has_member(item, name))
                return true;
        }
    } else if (yyjson_is_arr(val)) {
        yyjson_arr_foreach(val, i, count, item)
        {
            if (has_member(item, name))
                return true;
        }
    }
    return false;
}

static void add_namespaces(struct intake *in, object_key pod, yyjson_val *object)
{
    struct scheduler *s = in->s;
    yyjson_val *affinity = yyjson_obj_get(yyjson_obj_get(object, "spec"), "affinity");
    object_key key;
    yyjson_doc *doc;

    if (!affinity || !has_member(affinity, "namespaceSelector")) {
        (void)map64_remove(&s->namespace_pickers, pod);
        return;
    }
    map64_put(&s->namespace_pickers, pod, 1);
    for (size_t cursor = 0; beside_next(&s->beside, BESIDE_NAMESPACE, &cursor, &key, &doc);)
        intake_add_doc(in, WATCH_NAMESPACES, doc);
}

/* The class as an object, if there is one of that name: whoever groups the pod asks for it. */
static void add_priority_class(struct intake *in, const char *name)
{
    const struct state *state = in->s->state;
    bool is_there = false;

    vec_foreach (&state->priority_classes, class)
        is_there |= strcmp(state_name(state, class->name), name) == 0;
    if (!*name || !is_there)
        return;
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, root, "metadata"), "name", name);
    intake_add_doc(in, WATCH_PRIORITY_CLASSES, yyjson_mut_doc_imut_copy(doc, NULL));
    yyjson_mut_doc_free(doc);
}

/* Needs no PodGroup, unless all is to be done as KAI does it: then its PodGroup comes before its BindRequest. */
static bool is_lone(const struct scheduler *s, yyjson_val *pod)
{
    yyjson_val *owners = yyjson_obj_get(yyjson_obj_get(pod, "metadata"), "ownerReferences");

    return !s->always_requests && is_ours(s, pod) && yyjson_arr_size(owners) == 0 &&
           kube_text(pod, "metadata", "annotations", KEY_POD_GROUP)[0] == '\0';
}

/* The gang that was made for a pod is of no use any more, unless a PodGroup has taken its place. */
static void forget_lone_gang(struct scheduler *s, object_key pod)
{
    uint64_t name = 0;

    if (!map64_get(&s->lone_gangs, pod, &name))
        return;
    (void)map64_remove(&s->lone_gangs, pod);
    object_key gang = key_of((name_id)(pod >> 32), (name_id)name);
    if (!gang_note_find(s, gang))
        intake_drop(s, WATCH_POD_GROUPS, key_namespace(s->state, gang), key_name(s->state, gang));
}

/* Groups a lone pod; its gang goes into the state before it, unless it is there. */
static int group_lone(struct intake *in, struct object *object, object_key key, struct err *err)
{
    struct scheduler *s = in->s;
    const struct object_kind *kind = watch_object_kind(WATCH_POD_GROUPS);

    add_priority_class(in, kube_text(object->root.val, "metadata", "labels", KEY_PRIORITY_CLASS));
    add_priority_class(in, kube_text(object->root.val, "spec", "priorityClassName"));
    int r = group_pod(&in->set, object, &s->options, &s->notes, err);
    if (r < 0 || !object->gang)
        return r;

    object_key gang = key_put(s->state, object->namespace, object->gang);
    const struct object *made = object_set_find(&in->set, kind, object->namespace, object->gang);
    if (gang_note_find(s, gang))
        return 0;
    if (key_gang(s->state, gang) == NO_ID && made)
        r = intake_decode(in, made, err);
    map64_put(&s->lone_gangs, key, (uint32_t)gang);
    return r;
}

/* Does the pod still belong to the gang that was made for it? */
static void look_at_lone_gang(struct scheduler *s, object_key key)
{
    pod_id id = key_pod(s->state, key);
    uint64_t name = 0;

    if (!map64_get(&s->lone_gangs, key, &name))
        return;
    gang_id gang = id == NO_ID ? NO_ID : s->state->pods.items[id].gang;
    if (gang == NO_ID || s->state->gangs.items[gang].name != (name_id)name)
        forget_lone_gang(s, key);
}

/* Our eviction has been asked for, and the object does not show it yet. */
static void lay_eviction_over(struct scheduler *s, object_key key)
{
    pod_id id = key_pod(s->state, key);
    struct eviction *eviction = carry_eviction(s, key);

    if (!eviction)
        return;
    const struct pod *pod = id == NO_ID ? NULL : &s->state->pods.items[id];
    if (!pod || pod->uid != eviction->uid || pod->deleted != 0 || !status_in(pod->status, ACTIVE_ALLOCATED)) {
        carry_eviction_seen(s, eviction);
        return;
    }
    eviction->status = (enum pod_status)pod->status;
    state_move_pod(s->state, id, POD_RELEASING, pod->node, pod->groups);
    OBSERVE(s, on_moved, id);
}

/* A running pod that does not leave is found out by the clock: see cycle.c. */
static void note_leaving(struct scheduler *s, object_key key)
{
    pod_id id = key_pod(s->state, key);
    const struct pod *pod = id == NO_ID ? NULL : &s->state->pods.items[id];

    if (pod && pod->status == POD_RELEASING && pod->deleted != 0)
        map64_put(&s->leaving, key, (uint64_t)pod->deleted);
    else
        (void)map64_remove(&s->leaving, key);
}

/* A pod that names a subgroup which its PodGroup does not have is never placed; it hears so right away. */
static void tell_stray(struct scheduler *s, object_key key, yyjson_val *object)
{
    const char *pod_set = kube_text(object, "metadata", "labels", KEY_SUBGROUP);
    pod_id id = key_pod(s->state, key);
    const struct pod *pod = id == NO_ID ? NULL : &s->state->pods.items[id];
    struct strbuf text;

    if (!s->is_leading || !pod || pod->status != POD_PENDING || pod->pod_set != NO_ID || pod->gang == NO_ID ||
        !s->state->gangs.items[pod->gang].is_present)
        return;
    strbuf_init(&text, STRAY_TEXT_MAX);
    verdict_text_stray(s->engine, id, pod_set, &text);
    report_condition(s, key, "Unschedulable", text.text);
    strbuf_done(&text);
}

static void drop_pod(struct scheduler *s, const struct follow_event *event, object_key key)
{
    struct placement *placement = placement_find(s, key);

    intake_drop(s, WATCH_PODS, event->namespace, event->name);
    forget_lone_gang(s, key);
    (void)map64_remove(&s->namespace_pickers, key);
    (void)map64_remove(&s->leaving, key);
    (void)map64_remove(&s->pod_conditions, key);
    (void)map64_remove(&s->promised, key);
    if (placement && placement->is_direct && !placement->carrying)
        placement_drop(s, placement);
    lay_eviction_over(s, key);
    setbacks_look_at_pod(s, key);
}

static void put_pod(struct scheduler *s, const struct follow_event *event, object_key key)
{
    struct err err = {0};
    struct intake in;
    const bool has_node = kube_text(event->object, "spec", "nodeName")[0] != '\0';
    struct placement *placement = placement_find(s, key);

    if (placement && placement->is_direct && has_node && !placement->carrying) {
        placement_drop(s, placement);
        placement = NULL;
    }
    intake_begin(&in, s);
    struct object *object = intake_add(&in, WATCH_PODS, event->object, &err);
    int r = object ? 0 : err.code;
    if (placement && placement_is_live(s, placement, name_put(s->state, event->uid)))
        intake_add_doc(&in, WATCH_BIND_REQUESTS, placement_encode(s, placement));
    add_namespaces(&in, key, event->object);
    if (object && is_lone(s, event->object))
        r = group_lone(&in, object, key, &err);
    /* What cannot be right is not placed; but what runs takes its room, however it is written. */
    s->options.is_strict = is_ours(s, event->object) && !has_node;
    if (r >= 0)
        r = intake_decode(&in, object, &err);
    intake_end(&in);
    if (r < 0 && !has_node)
        intake_drop(s, WATCH_PODS, event->namespace, event->name);
    complain(s, WATCH_PODS, event, &err);
}

static bool is_on_its_way(const struct pod_image *image)
{
    return image->is_present && (image->status == POD_PENDING || image->status == POD_BINDING);
}

void intake_pod(struct scheduler *s, const struct follow_event *event)
{
    object_key key = key_put(s->state, event->namespace, event->name);
    struct pod_image before = image_of(s->state, key);

    if (event->change == FOLLOW_DELETED) {
        drop_pod(s, event, key);
        return;
    }
    put_pod(s, event, key);
    lay_eviction_over(s, key);
    setbacks_look_at_pod(s, key);
    look_at_lone_gang(s, key);
    note_leaving(s, key);
    report_note_condition(s, key, event->object);
    tell_stray(s, key, event->object);
    struct pod_image after = image_of(s->state, key);
    if (memcmp(&before, &after, sizeof before) == 0)
        return;
    if (is_ours(s, event->object) && (is_on_its_way(&before) || is_on_its_way(&after)))
        rush_note(&s->rush, nsec_now_monotonic());
    cycle_wake(s);
}
