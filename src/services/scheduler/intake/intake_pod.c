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
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "model/delta.h"
#include "objects/group/group.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "services/scheduler/carry/evictions.h"
#include "services/scheduler/carry/placements.h"
#include "services/scheduler/carry/setbacks.h"
#include "services/scheduler/carry/traffic.h"
#include "services/scheduler/flags.h"
#include "services/scheduler/intake/complaints.h"
#include "services/scheduler/intake/intake_internal.h"
#include "services/scheduler/pace.h"
#include "services/scheduler/pod_notes.h"
#include "services/scheduler/report/gang_notes.h"
#include "services/scheduler/report/report.h"
#include "text/json.h"
#include "words/verdict_text.h"

enum { TEXT_MAX = 2048 };

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

static bool is_ours(const struct intake *intake, yyjson_val *pod)
{
    return strcmp(kube_text(pod, "spec", "schedulerName"), intake->options.scheduler_name) == 0;
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

static void add_namespaces(struct reading *in, object_key pod, yyjson_val *object)
{
    struct intake *intake = in->intake;
    yyjson_val *affinity = yyjson_obj_get(yyjson_obj_get(object, "spec"), "affinity");
    object_key key;
    yyjson_doc *doc;

    bool picks = affinity && has_member(affinity, "namespaceSelector");
    /* Where only some namespaces are the grouper's, a pod without a node may become one of these. */
    bool depends = picks || (intake->setup->flags->namespace_selector.len > 0 && is_ours(intake, object) &&
                             kube_text(object, "spec", "nodeName")[0] == '\0');
    struct pod_note *note = depends ? pod_note_put(intake->pod_notes, pod) : pod_note_find(intake->pod_notes, pod);

    if (note)
        note->picks_namespaces = depends;
    if (!depends)
        pod_note_settle(intake->pod_notes, note);
    if (!picks)
        return;
    for (size_t cursor = 0; beside_next(intake->beside, WATCH_NAMESPACES, &cursor, &key, &doc);)
        reading_add_doc(in, WATCH_NAMESPACES, doc);
}

/* The class as an object, if there is one of that name: whoever groups the pod asks for it. */
static void add_priority_class(struct reading *in, const char *name)
{
    const struct state *state = in->intake->state;
    bool is_there = false;

    vec_foreach (&state->priority_classes, class)
        is_there |= strcmp(state_name(state, class->name), name) == 0;
    if (!*name || !is_there)
        return;
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, root, "metadata"), "name", name);
    reading_add_doc(in, WATCH_PRIORITY_CLASSES, yyjson_mut_doc_imut_copy(doc, NULL));
    yyjson_mut_doc_free(doc);
}

/* Has it all of these labels? */
static bool is_chosen(yyjson_val *object, const struct flag_pairs *labels)
{
    bool is = true;

    vec_foreach (labels, label)
        is &= strcmp(kube_text(object, "metadata", "labels", label->key), label->value) == 0;
    return is;
}

static bool is_in_chosen_namespace(const struct intake *intake, yyjson_val *pod)
{
    const struct flag_pairs *labels = &intake->setup->flags->namespace_selector;

    if (labels->len == 0)
        return true;
    yyjson_doc *namespace = beside_get(intake->beside, WATCH_NAMESPACES,
                                       key_put(intake->state, "", kube_text(pod, "metadata", "namespace")));
    bool is = namespace && is_chosen(yyjson_doc_get_root(namespace), labels);
    yyjson_doc_free(namespace);
    return is;
}

/* Pods that the grouper passes over never get a PodGroup; in KAI they wait, unless somebody else makes one. */
static bool is_for_grouper(const struct intake *intake, yyjson_val *pod)
{
    return strcmp(kube_text(pod, "metadata", "annotations", KEY_SKIP_GROUPER), "true") != 0 &&
           is_chosen(pod, &intake->setup->flags->pod_selector) && is_in_chosen_namespace(intake, pod);
}

/* Needs no PodGroup, unless all is to be done as KAI does it: then its PodGroup comes before its BindRequest. */
static bool is_lone(const struct intake *intake, yyjson_val *pod)
{
    yyjson_val *owners = yyjson_obj_get(yyjson_obj_get(pod, "metadata"), "ownerReferences");

    return !intake->setup->always_requests && is_ours(intake, pod) && yyjson_arr_size(owners) == 0 &&
           kube_text(pod, "metadata", "annotations", KEY_POD_GROUP)[0] == '\0' && is_for_grouper(intake, pod);
}

/* The gang that was made for a pod is of no use any more, unless a PodGroup has taken its place. */
static void forget_lone_gang(struct intake *intake, object_key pod)
{
    struct pod_note *note = pod_note_find(intake->pod_notes, pod);

    if (!note || note->lone_gang == 0)
        return;
    object_key gang = key_of((name_id)(pod >> 32), note->lone_gang);
    note->lone_gang = 0;
    pod_note_settle(intake->pod_notes, note);
    if (!gang_note_find(intake->gang_notes, gang))
        intake_drop(intake, WATCH_POD_GROUPS, key_namespace(intake->state, gang), key_name(intake->state, gang));
}

/* Groups a lone pod; its gang goes into the state before it, unless it is there. */
static int group_lone(struct reading *in, struct object *object, object_key key, struct err *err)
{
    struct intake *intake = in->intake;
    const struct object_kind *kind = watch_object_kind(WATCH_POD_GROUPS);

    add_priority_class(in, kube_text(object->root.val, "metadata", "labels", KEY_PRIORITY_CLASS));
    add_priority_class(in, kube_text(object->root.val, "spec", "priorityClassName"));
    int r = group_pod(&in->set, object, &intake->options, &intake->notes, err);
    if (r < 0 || !object->gang)
        return r;

    object_key gang = key_put(intake->state, object->namespace, object->gang);
    const struct object *made = object_set_find(&in->set, kind, object->namespace, object->gang);
    if (gang_note_find(intake->gang_notes, gang))
        return 0;
    if (key_gang(intake->state, gang) == NO_ID && made)
        r = reading_decode(in, made, err);
    pod_note_put(intake->pod_notes, key)->lone_gang = (name_id)gang;
    return r;
}

/* Does the pod still belong to the gang that was made for it? */
static void look_at_lone_gang(struct intake *intake, object_key key)
{
    pod_id id = key_pod(intake->state, key);
    const struct pod_note *note = pod_note_find(intake->pod_notes, key);

    if (!note || note->lone_gang == 0)
        return;
    gang_id gang = id == NO_ID ? NO_ID : intake->state->pods.items[id].gang;
    if (gang == NO_ID || intake->state->gangs.items[gang].name != note->lone_gang)
        forget_lone_gang(intake, key);
}

/* A running pod that does not leave is found out by the clock: see cycle.c. */
static void note_leaving(struct intake *intake, object_key key)
{
    pod_id id = key_pod(intake->state, key);
    const struct pod *pod = id == NO_ID ? NULL : &intake->state->pods.items[id];

    pod_note_set_leaving(intake->pod_notes, key, pod && pod->status == POD_RELEASING ? pod->deleted : 0);
}

/* A pod that names a subgroup which its PodGroup does not have is never placed; it hears so right away. */
static void tell_stray(struct intake *intake, object_key key, yyjson_val *object)
{
    const char *pod_set = kube_text(object, "metadata", "labels", KEY_SUBGROUP);
    pod_id id = key_pod(intake->state, key);
    const struct pod *pod = id == NO_ID ? NULL : &intake->state->pods.items[id];
    struct strbuf text;

    if (pace_is_held(intake->pace, HOLD_STANDBY) || !pod || pod->status != POD_PENDING || pod->pod_set != NO_ID ||
        pod->gang == NO_ID || !intake->state->gangs.items[pod->gang].is_present)
        return;
    strbuf_init(&text, TEXT_MAX);
    verdict_text_stray(intake->engine, id, pod_set, &text);
    report_condition(intake->report, key, "Unschedulable", text.text);
    strbuf_done(&text);
}

/* Devices that a bind under way has planned for the pod are nobody's now, and their claims may never change again. */
static void look_at_claims(struct intake *intake, object_key key)
{
    const struct state *state = intake->state;
    pod_id id = key_pod(state, key);

    for (uint32_t i = 0; id != NO_ID && i < state->pods.items[id].claim_count; i++) {
        uint32_t slot = state->pods.items[id].claims[i].claim;

        if (slot != NO_ID && !state->claims.items[slot].is_plan)
            watching_refetch(intake->watching, WATCH_CLAIMS,
                             key_of(state->claims.items[slot].namespace, state->claims.items[slot].name));
    }
}

static void drop_pod(struct intake *intake, const struct follow_event *event, object_key key)
{
    struct placement *placement = placement_find(intake->placements, key);
    struct pod_note *note = pod_note_find(intake->pod_notes, key);

    if (placement && placement->carrying)
        look_at_claims(intake, key);
    intake_drop(intake, WATCH_PODS, event->namespace, event->name);
    if (note)
        note->picks_namespaces = false;
    pod_note_set_leaving(intake->pod_notes, key, 0);
    forget_lone_gang(intake, key);
    report_forget_pod(intake->report, key);
    if (placement && placement->is_direct && !placement->carrying)
        placement_drop(intake->placements, placement);
    evictions_lay_over(intake->evictions, key);
    setbacks_look_at_pod(intake->setbacks, key);
}

static void put_pod(struct intake *intake, const struct follow_event *event, object_key key)
{
    struct err err = {0};
    struct reading in;
    const bool has_node = kube_text(event->object, "spec", "nodeName")[0] != '\0';
    struct placement *placement = placement_find(intake->placements, key);

    if (placement && placement->is_direct && has_node && !placement->carrying) {
        placement_drop(intake->placements, placement);
        placement = NULL;
    }
    reading_begin(&in, intake);
    struct object *object = reading_add(&in, WATCH_PODS, event->object, &err);
    int r = object ? 0 : err.code;
    if (placement && placement_is_live(intake->placements, placement, name_put(intake->state, event->uid)))
        reading_add_doc(&in, WATCH_BIND_REQUESTS, placement_encode(intake->placements, placement));
    add_namespaces(&in, key, event->object);
    if (object && is_lone(intake, event->object))
        r = group_lone(&in, object, key, &err);
    /* What cannot be right is not placed; but what runs takes its room, however it is written. */
    intake->options.is_strict = is_ours(intake, event->object) && !has_node;
    if (r >= 0)
        r = reading_decode(&in, object, &err);
    reading_end(&in);
    if (r < 0 && !has_node)
        intake_drop(intake, WATCH_PODS, event->namespace, event->name);
    complain(intake->complaints, WATCH_PODS, event, &err, &intake->notes);
}

/* One that we have made, or are making: the binder may be done before the answer to its creation has come. */
static bool has_request_of_ours(const struct placement *placement)
{
    return placement && !placement->is_direct && placement->is_ours && (placement->has_request || placement->carrying);
}

/* A BindRequest of ours has been carried out. */
static void tell_bound(struct intake *intake, object_key key, const struct pod_image *before, yyjson_val *object)
{
    const struct placement *placement = placement_find(intake->placements, key);
    const char *node = kube_text(object, "spec", "nodeName");
    pod_id id = key_pod(intake->state, key);
    struct strbuf text;

    if (!*node || before->status != POD_BINDING || id == NO_ID || before->uid != intake->state->pods.items[id].uid ||
        pace_is_held(intake->pace, HOLD_STANDBY) || !has_request_of_ours(placement) ||
        placement->node != name_put(intake->state, node))
        return;
    strbuf_init(&text, TEXT_MAX);
    verdict_text_assigned(intake->state, id, node, intake->setup->pool_name, &text);
    report_pod_event(intake->report, key, before->uid, "Normal", "Scheduled", text.text);
    strbuf_done(&text);
}

static bool is_on_its_way(const struct pod_image *image)
{
    return image->is_present && (image->status == POD_PENDING || image->status == POD_BINDING);
}

void intake_pod(struct intake *intake, enum watch_kind kind, const struct follow_event *event)
{
    (void)kind;
    object_key key = key_put(intake->state, event->namespace, event->name);
    struct pod_image before = image_of(intake->state, key);

    if (event->change == FOLLOW_DELETED) {
        drop_pod(intake, event, key);
        return;
    }
    put_pod(intake, event, key);
    evictions_lay_over(intake->evictions, key);
    setbacks_look_at_pod(intake->setbacks, key);
    look_at_lone_gang(intake, key);
    note_leaving(intake, key);
    report_note_condition(intake->report, key, event->object);
    tell_stray(intake, key, event->object);
    tell_bound(intake, key, &before, event->object);
    struct pod_image after = image_of(intake->state, key);
    if (memcmp(&before, &after, sizeof before) == 0)
        return;
    if (is_ours(intake, event->object) && (is_on_its_way(&before) || is_on_its_way(&after)))
        rush_note(&intake->traffic->rush, nsec_now_monotonic());
    pace_wake(intake->pace);
}
