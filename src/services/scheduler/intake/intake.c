/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Each event is a small input of its own: the object, and beside it the few others that its decoder looks up. When it has
 * become a delta nothing of it is left.
 */
#include "services/scheduler/intake/intake.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "kube/client/meta.h"
#include "model/delta.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "services/scheduler/context.h"
#include "services/scheduler/intake/complain.h"
#include "services/scheduler/intake/intake_internal.h"
#include "services/scheduler/intake/usage.h"
#include "services/scheduler/report/gang_notes.h"
#include "services/scheduler/report/report.h"

void intake_begin(struct intake *in, struct scheduler *s)
{
    *in = (struct intake){.s = s};
    object_set_init(&in->set, &s->notes);
    s->reader.objects = &in->set;
    s->options.now = nsec_now_wall();
    s->options.is_strict = false;
}

void intake_end(struct intake *in)
{
    vec_foreach (&in->docs, doc)
        yyjson_doc_free(*doc);
    vec_done(&in->docs);
    object_set_done(&in->set);
    in->s->reader.objects = NULL;
}

struct object *intake_add(struct intake *in, enum watch_kind kind, yyjson_val *val, struct err *err)
{
    int r = object_set_add_as(&in->set, watch_object_kind(kind), val, NULL, err);

    return r < 0 ? NULL : in->set.objects.items[in->set.objects.len - 1];
}

void intake_add_doc(struct intake *in, enum watch_kind kind, yyjson_doc *doc)
{
    if (!doc)
        return;
    vec_push(&in->docs, doc);
    (void)intake_add(in, kind, yyjson_doc_get_root(doc), NULL);
}

int intake_decode(struct intake *in, const struct object *object, struct err *err)
{
    struct scheduler *s = in->s;
    int r = object_decode(&s->reader, object, err);

    if (r >= 0) {
        s->deltas++;
        OBSERVE(s, on_object, object);
    }
    return r;
}

void intake_drop(struct scheduler *s, enum watch_kind kind, const char *namespace, const char *name)
{
    struct object object = {.kind = watch_object_kind(kind), .namespace = namespace, .name = name};

    object_drop(s->state, &object);
    if (kind == WATCH_POD_GROUPS)
        report_forget(s, key_put(s->state, namespace, name));
    s->deltas++;
    OBSERVE(s, on_dropped, object.kind, namespace, name);
    cycle_wake(s);
}

/* An object that is decoded as it is, with what `beside` adds for it. */
typedef void (*intake_beside_fn)(struct intake *in, const struct follow_event *event);

static void put_plain(struct scheduler *s, enum watch_kind kind, const struct follow_event *event,
                      intake_beside_fn beside)
{
    struct err err = {0};
    struct intake in;

    intake_begin(&in, s);
    struct object *object = intake_add(&in, kind, event->object, &err);
    if (object) {
        if (beside)
            beside(&in, event);
        (void)intake_decode(&in, object, &err);
    }
    complain(s, kind, event, &err);
    intake_end(&in);
    cycle_wake(s);
}

/* Nobody makes volumes of the class: its claims wait for those that are there. */
static bool has_no_provisioner(const struct scheduler *s, const char *class)
{
    yyjson_doc *doc = *class ? beside_get(&s->beside, BESIDE_STORAGE_CLASS, key_put(s->state, "", class)) : NULL;
    bool has_none =
        doc && strcmp(kube_text(yyjson_doc_get_root(doc), "provisioner"), "kubernetes.io/no-provisioner") == 0;

    yyjson_doc_free(doc);
    return has_none;
}

/* Volumes of the class, one of which a claim may get. */
static void beside_class_volumes(struct intake *in, const char *class)
{
    yyjson_doc *doc;
    object_key key;

    for (size_t cursor = 0; beside_next(&in->s->beside, BESIDE_VOLUME, &cursor, &key, &doc);) {
        if (strcmp(kube_text(yyjson_doc_get_root(doc), "spec", "storageClassName"), class) == 0)
            intake_add_doc(in, WATCH_VOLUMES, doc);
        else
            yyjson_doc_free(doc);
    }
}

/*
 * PersistentVolumeClaims: with their volume or, without one, those of their class; and the class they name or all of
 * them where they name none.
 */
static void beside_volume_claim(struct intake *in, const struct follow_event *event)
{
    struct scheduler *s = in->s;
    const char *volume = kube_text(event->object, "spec", "volumeName");
    const char *class = kube_text(event->object, "spec", "storageClassName");
    yyjson_doc *doc;
    object_key key;

    if (*volume)
        intake_add_doc(in, WATCH_VOLUMES, beside_get(&s->beside, BESIDE_VOLUME, key_put(s->state, "", volume)));
    else if (has_no_provisioner(s, class))
        beside_class_volumes(in, class);
    if (*class) {
        intake_add_doc(in, WATCH_STORAGE_CLASSES,
                       beside_get(&s->beside, BESIDE_STORAGE_CLASS, key_put(s->state, "", class)));
        return;
    }
    for (size_t cursor = 0; beside_next(&s->beside, BESIDE_STORAGE_CLASS, &cursor, &key, &doc);)
        intake_add_doc(in, WATCH_STORAGE_CLASSES, doc);
}

static void on_volume_claim(struct scheduler *s, const struct follow_event *event)
{
    object_key key = key_put(s->state, event->namespace, event->name);

    if (event->change == FOLLOW_DELETED) {
        (void)beside_drop(&s->beside, BESIDE_VOLUME_CLAIM, key);
        intake_drop(s, WATCH_VOLUME_CLAIMS, event->namespace, event->name);
        return;
    }
    if (beside_put(&s->beside, BESIDE_VOLUME_CLAIM, key, event->object))
        put_plain(s, WATCH_VOLUME_CLAIMS, event, beside_volume_claim);
}

/* Claims that the volume or class concerns are decoded again. */
static void again_volume_claims(struct scheduler *s, const char *volume)
{
    yyjson_doc *doc;
    object_key key;

    for (size_t cursor = 0; beside_next(&s->beside, BESIDE_VOLUME_CLAIM, &cursor, &key, &doc);) {
        yyjson_val *claim = yyjson_doc_get_root(doc);
        struct follow_event event = {
            .change = FOLLOW_CHANGED,
            .namespace = key_namespace(s->state, key),
            .name = key_name(s->state, key),
            .uid = "",
            .object = claim,
        };
        const char *own = kube_text(claim, "spec", "volumeName");

        if (!volume || strcmp(own, volume) == 0 ||
            (!*own && has_no_provisioner(s, kube_text(claim, "spec", "storageClassName"))))
            put_plain(s, WATCH_VOLUME_CLAIMS, &event, beside_volume_claim);
        yyjson_doc_free(doc);
    }
}

static void beside_node(struct intake *in, const struct follow_event *event)
{
    struct scheduler *s = in->s;

    if (beside_len(&s->beside, BESIDE_NUMA) > 0)
        intake_add_doc(in, WATCH_NUMA, beside_get(&s->beside, BESIDE_NUMA, key_put(s->state, "", event->name)));
}

static void on_node(struct scheduler *s, const struct follow_event *event)
{
    node_id id = state_find_node(s->state, event->name);
    bool was_present = id != NO_ID && s->state->nodes.items[id].is_present;

    if (event->change == FOLLOW_DELETED)
        intake_drop(s, WATCH_NODES, "", event->name);
    else
        put_plain(s, WATCH_NODES, event, beside_node);
    if (!was_present || event->change == FOLLOW_DELETED) {
        s->nodes_changed = true;
        setbacks_forget_node(s, name_put(s->state, event->name));
    }
}

/* Kinds that are kept beside: those that read them are read again when that changes something for them. */
static void on_beside(struct scheduler *s, enum watch_kind kind, const struct follow_event *event)
{
    static const enum beside_kind kinds[_WATCH_MAX] = {
        [WATCH_NAMESPACES] = BESIDE_NAMESPACE,
        [WATCH_VOLUMES] = BESIDE_VOLUME,
        [WATCH_STORAGE_CLASSES] = BESIDE_STORAGE_CLASS,
        [WATCH_NUMA] = BESIDE_NUMA,
    };
    object_key key = key_put(s->state, "", event->name);
    bool is_changed = event->change == FOLLOW_DELETED ? beside_drop(&s->beside, kinds[kind], key)
                                                      : beside_put(&s->beside, kinds[kind], key, event->object);
    uint64_t pod, unused;

    if (!is_changed)
        return;
    if (kind == WATCH_VOLUMES || kind == WATCH_STORAGE_CLASSES)
        again_volume_claims(s, kind == WATCH_VOLUMES ? event->name : NULL);
    else if (kind == WATCH_NUMA && state_find_node(s->state, event->name) != NO_ID)
        watching_refetch(s->watching, WATCH_NODES, key);
    else if (kind == WATCH_NAMESPACES)
        for (size_t cursor = 0; map64_next(&s->namespace_pickers, &cursor, &pod, &unused);)
            watching_refetch(s->watching, WATCH_PODS, pod);
}

/* A class gives gangs their priority when they are decoded. */
static void on_priority_class(struct scheduler *s, const struct follow_event *event)
{
    name_id class = name_put(s->state, event->name);
    bool is_default = event->object && yyjson_get_bool(yyjson_obj_get(event->object, "globalDefault"));
    uint64_t key, value;

    if (event->change == FOLLOW_DELETED)
        intake_drop(s, WATCH_PRIORITY_CLASSES, "", event->name);
    else
        put_plain(s, WATCH_PRIORITY_CLASSES, event, NULL);
    for (size_t cursor = 0; map64_next(&s->gang_notes, &cursor, &key, &value);) {
        struct gang_note *note = (struct gang_note *)(uintptr_t)value;

        if (is_default || note->priority_class == class) {
            note->content = 0;
            watching_refetch(s->watching, WATCH_POD_GROUPS, key);
        }
    }
}

static void on_pod_group(struct scheduler *s, const struct follow_event *event)
{
    object_key key = key_put(s->state, event->namespace, event->name);
    struct gang_times before = gang_times_get(s, key);

    /* What was told while there was no PodGroup is to be told to it as well. */
    if (!gang_note_find(s, key))
        report_forget(s, key);
    if (event->change == FOLLOW_DELETED) {
        gang_note_drop(s, key);
        intake_drop(s, WATCH_POD_GROUPS, event->namespace, event->name);
        return;
    }
    if (!gang_note_read(s, key, event->object))
        return;
    put_plain(s, WATCH_POD_GROUPS, event, NULL);
    gang_times_keep(s, key, &before);
}

/* An older request than the decision that we are carrying out: all that counts of it is whether it is in the way. */
static bool is_superseded(struct scheduler *s, const struct placement *placement, const struct follow_event *event)
{
    return placement->is_direct || (placement->carrying && (event->change == FOLLOW_DELETED ||
                                                            placement->request_uid == name_put(s->state, event->uid)));
}

/* A request that the binder has given up is a bind that failed, once. */
static void read_request(struct scheduler *s, struct placement *placement, const struct follow_event *event)
{
    bool had_failed = placement->has_failed && placement->request_uid == name_put(s->state, event->uid);

    placement_read(s, placement, event->object);
    if (placement->has_failed && !had_failed)
        (void)setback_note(s, SETBACK_BIND, placement->key, placement->node, false, nsec_now_monotonic());
}

static void on_bind_request(struct scheduler *s, const struct follow_event *event)
{
    object_key key = key_put(s->state, event->namespace, event->name);
    struct placement *placement = placement_find(s, key);

    if (placement && is_superseded(s, placement, event)) {
        placement->has_request = event->change != FOLLOW_DELETED;
        return;
    }
    if (event->change != FOLLOW_DELETED)
        read_request(s, placement_put(s, key), event);
    else if (placement)
        placement_drop(s, placement);
    placement_apply(s, key);
}

/* A claim whose devices we have just chosen: the binder has yet to write them. */
static bool is_claim_under_way(const struct scheduler *s, object_key key, yyjson_val *object)
{
    uint64_t id = 0;

    if (yyjson_is_obj(yyjson_obj_get(yyjson_obj_get(object, "status"), "allocation")) ||
        !map64_get(&s->state->claim_by_name, key, &id))
        return false;
    const struct claim *claim = &s->state->claims.items[id];
    for (uint32_t i = 0; claim->is_present && claim->is_allocated && i < claim->users.len; i++) {
        if (s->state->pods.items[claim->users.items[i]].status == POD_BINDING)
            return true;
    }
    return false;
}

static void on_claim(struct scheduler *s, const struct follow_event *event)
{
    if (event->change == FOLLOW_DELETED)
        intake_drop(s, WATCH_CLAIMS, event->namespace, event->name);
    else if (!is_claim_under_way(s, key_put(s->state, event->namespace, event->name), event->object))
        put_plain(s, WATCH_CLAIMS, event, NULL);
}

static void on_plain(struct scheduler *s, enum watch_kind kind, const struct follow_event *event)
{
    if (event->change == FOLLOW_DELETED)
        intake_drop(s, kind, event->namespace, event->name);
    else
        put_plain(s, kind, event, NULL);
}

void intake_event(struct scheduler *s, enum watch_kind kind, const struct follow_event *event)
{
    switch (kind) {
    case WATCH_PODS:
        intake_pod(s, event);
        break;
    case WATCH_NODES:
        on_node(s, event);
        break;
    case WATCH_POD_GROUPS:
        on_pod_group(s, event);
        break;
    case WATCH_BIND_REQUESTS:
        on_bind_request(s, event);
        break;
    case WATCH_PRIORITY_CLASSES:
        on_priority_class(s, event);
        break;
    case WATCH_VOLUME_CLAIMS:
        on_volume_claim(s, event);
        break;
    case WATCH_CLAIMS:
        on_claim(s, event);
        break;
    case WATCH_NAMESPACES:
    case WATCH_VOLUMES:
    case WATCH_STORAGE_CLASSES:
    case WATCH_NUMA:
        on_beside(s, kind, event);
        break;
    case WATCH_QUEUES:
        on_plain(s, kind, event);
        usage_tell_queue(s, event->name);
        break;
    case WATCH_TOPOLOGIES:
    case WATCH_DEVICE_CLASSES:
    case WATCH_SLICES:
    case WATCH_CONFIG_MAPS:
        on_plain(s, kind, event);
        break;
    case _WATCH_MAX:
        break;
    }
}
