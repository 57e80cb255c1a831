/* SPDX-License-Identifier: Apache-2.0 */

/* What each kind of object means to the scheduler. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "model/delta.h"
#include "model/retell/retell.h"
#include "model/state.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "objects/queue_doubts.h"
#include "services/scheduler/carry/placements.h"
#include "services/scheduler/carry/request.h"
#include "services/scheduler/carry/setbacks.h"
#include "services/scheduler/intake/complaints.h"
#include "services/scheduler/intake/intake_internal.h"
#include "services/scheduler/intake/usage.h"
#include "services/scheduler/observe/observer.h"
#include "services/scheduler/pace.h"
#include "services/scheduler/report/gang_notes.h"
#include "services/scheduler/report/report.h"

struct intake *intake_new(const struct intake_options *options)
{
    struct intake *intake = xcalloc(1, sizeof *intake);

    *intake = (struct intake){
        .state = options->state,
        .engine = options->engine,
        .setup = options->setup,
        .pod_notes = options->pod_notes,
        .gang_notes = options->gang_notes,
        .placements = options->placements,
        .evictions = options->evictions,
        .setbacks = options->setbacks,
        .report = options->report,
        .complaints = options->complaints,
        .usage = options->usage,
        .observers = options->observers,
        .pace = options->pace,
        .traffic = options->traffic,
        .options = options->setup->options,
        .beside = beside_new(),
    };
    object_notes_init(&intake->notes);
    object_reader_init(&intake->reader, intake->state, &intake->options, NULL, &intake->notes);
    return intake;
}

void intake_free(struct intake *intake)
{
    if (!intake)
        return;
    object_reader_done(&intake->reader);
    object_notes_done(&intake->notes);
    beside_free(intake->beside);
    free(intake);
}

void intake_set_watching(struct intake *intake, struct watching *watching)
{
    intake->watching = watching;
}

size_t intake_take_deltas(struct intake *intake)
{
    size_t deltas = intake->deltas;

    intake->deltas = 0;
    return deltas;
}

void intake_drop(struct intake *intake, enum watch_kind kind, const char *namespace, const char *name)
{
    struct object object = {.kind = watch_object_kind(kind), .namespace = namespace, .name = name};

    object_drop(intake->state, &object);
    if (kind == WATCH_POD_GROUPS)
        report_forget(intake->report, key_put(intake->state, namespace, name));
    intake->deltas++;
    OBSERVE(intake->observers, on_dropped, object.kind, namespace, name);
    pace_wake(intake->pace);
}

void intake_put_plain(struct intake *intake, enum watch_kind kind, const struct follow_event *event, beside_fn beside)
{
    struct err err = {0};
    struct reading in;

    reading_begin(&in, intake);
    struct object *object = reading_add(&in, kind, event->object, &err);
    if (object) {
        if (beside)
            beside(&in, event);
        (void)reading_decode(&in, object, &err);
    }
    complain(intake->complaints, kind, event, &err, &intake->notes);
    reading_end(&in);
    pace_wake(intake->pace);
}

static void beside_node(struct reading *in, const struct follow_event *event)
{
    static const enum watch_kind kinds[] = {WATCH_NUMA, WATCH_CSI_NODES};
    struct intake *intake = in->intake;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (beside_len(intake->beside, kinds[i]) > 0)
            reading_add_doc(in, kinds[i],
                            beside_get(intake->beside, kinds[i], key_put(intake->state, "", event->name)));
}

void intake_node(struct intake *intake, enum watch_kind kind, const struct follow_event *event)
{
    node_id id = state_find_node(intake->state, event->name);
    bool was_present = id != NO_ID && intake->state->nodes.items[id].is_present;

    if (event->change == FOLLOW_DELETED)
        intake_drop(intake, kind, "", event->name);
    else
        intake_put_plain(intake, kind, event, beside_node);
    if (!was_present || event->change == FOLLOW_DELETED) {
        placements_nodes_changed(intake->placements);
        setbacks_forget_node(intake->setbacks, name_put(intake->state, event->name));
    }
}

/* Kinds that are kept beside: those that read them are read again when that changes something for them. */
void intake_beside(struct intake *intake, enum watch_kind kind, const struct follow_event *event)
{
    object_key key = key_put(intake->state, "", event->name);
    bool is_changed = event->change == FOLLOW_DELETED ? beside_drop(intake->beside, kind, key)
                                                      : beside_put(intake->beside, kind, key, event->object);
    const struct pod_note *pod;

    if (!is_changed)
        return;
    if (kind == WATCH_VOLUMES || kind == WATCH_STORAGE_CLASSES || kind == WATCH_CSI_DRIVERS)
        intake_volume_claims_again(intake, kind == WATCH_VOLUMES ? event->name : NULL);
    else if ((kind == WATCH_NUMA || kind == WATCH_CSI_NODES) && state_find_node(intake->state, event->name) != NO_ID)
        watching_refetch(intake->watching, WATCH_NODES, key);
    else if (kind == WATCH_NAMESPACES)
        for (size_t cursor = 0; (pod = pod_notes_next(intake->pod_notes, &cursor));)
            if (pod->picks_namespaces)
                watching_refetch(intake->watching, WATCH_PODS, pod->key);
}

/* A class gives gangs their priority when they are decoded. */
void intake_priority_class(struct intake *intake, enum watch_kind kind, const struct follow_event *event)
{
    name_id class = name_put(intake->state, event->name);
    bool is_default = event->object && yyjson_get_bool(yyjson_obj_get(event->object, "globalDefault"));
    struct gang_note *note;

    if (event->change == FOLLOW_DELETED)
        intake_drop(intake, kind, "", event->name);
    else
        intake_put_plain(intake, kind, event, NULL);
    for (size_t cursor = 0; (note = gang_notes_next(intake->gang_notes, &cursor));) {
        if (is_default || note->priority_class == class) {
            note->content = 0;
            watching_refetch(intake->watching, WATCH_POD_GROUPS, note->key);
        }
    }
}

void intake_pod_group(struct intake *intake, enum watch_kind kind, const struct follow_event *event)
{
    object_key key = key_put(intake->state, event->namespace, event->name);
    struct gang_times before = gang_times_get(intake->gang_notes, key);

    /* What was told while there was no PodGroup is to be told to it as well. */
    if (!gang_note_find(intake->gang_notes, key))
        report_forget(intake->report, key);
    if (event->change == FOLLOW_DELETED) {
        gang_note_drop(intake->gang_notes, key);
        intake_drop(intake, kind, event->namespace, event->name);
        return;
    }
    if (!gang_note_read(intake->gang_notes, key, event->object))
        return;
    intake_put_plain(intake, kind, event, NULL);
    gang_times_keep(intake->gang_notes, key, &before);
}

/* An older request than the decision that we are carrying out: all that counts of it is whether it is in the way. */
static bool is_superseded(struct intake *intake, const struct placement *placement, const struct follow_event *event)
{
    return placement->is_direct ||
           (placement->carrying &&
            (event->change == FOLLOW_DELETED || placement->request_uid == name_put(intake->state, event->uid)));
}

/* The binder may be done with our request before we have the answer to it. */
static void note_early(struct intake *intake, struct placement *placement, const struct follow_event *event)
{
    placement->early_uid = name_put(intake->state, event->uid);
    if (event->change == FOLLOW_DELETED)
        placement->early = EARLY_GONE;
    else
        placement->early = request_has_failed(event->object) ? EARLY_FAILED : EARLY_STANDS;
}

/* A request that the binder has given up is a bind that failed, once. */
static void read_request(struct intake *intake, struct placement *placement, const struct follow_event *event)
{
    bool had_failed = placement->has_failed && placement->request_uid == name_put(intake->state, event->uid);

    placement_read(intake->placements, placement, event->object);
    if (!placement->has_failed || had_failed)
        return;
    (void)setback_note(intake->setbacks, SETBACK_BIND, placement->key, placement->node, false, nsec_now_monotonic());
    pod_id pod = key_pod(intake->state, placement->key);
    if (pod != NO_ID)
        state_fail_volumes(intake->state, pod, placement->node);
}

void intake_bind_request(struct intake *intake, enum watch_kind kind, const struct follow_event *event)
{
    (void)kind;
    object_key key = key_put(intake->state, event->namespace, event->name);
    struct placement *placement = placement_find(intake->placements, key);

    if (placement && is_superseded(intake, placement, event)) {
        placement->has_request = event->change != FOLLOW_DELETED;
        note_early(intake, placement, event);
        return;
    }
    if (event->change != FOLLOW_DELETED)
        read_request(intake, placement_put(intake->placements, key), event);
    else if (placement)
        placement_drop(intake->placements, placement);
    placement_apply(intake->placements, key);
}

/* A claim whose devices we have just chosen: the binder has yet to write them. */
static bool is_claim_under_way(const struct intake *intake, object_key key, yyjson_val *object)
{
    uint64_t id = 0;

    if (yyjson_is_obj(yyjson_obj_get(yyjson_obj_get(object, "status"), "allocation")) ||
        !map64_get(&intake->state->claim_by_name, key, &id))
        return false;
    const struct claim *claim = &intake->state->claims.items[id];
    for (uint32_t i = 0; claim->is_present && claim->is_allocated && i < claim->users.len; i++) {
        if (intake->state->pods.items[claim->users.items[i]].status == POD_BINDING)
            return true;
    }
    return false;
}

void intake_claim(struct intake *intake, enum watch_kind kind, const struct follow_event *event)
{
    if (event->change == FOLLOW_DELETED)
        intake_drop(intake, kind, event->namespace, event->name);
    else if (!is_claim_under_way(intake, key_put(intake->state, event->namespace, event->name), event->object))
        intake_put_plain(intake, kind, event, NULL);
}

void intake_plain(struct intake *intake, enum watch_kind kind, const struct follow_event *event)
{
    if (event->change == FOLLOW_DELETED)
        intake_drop(intake, kind, event->namespace, event->name);
    else
        intake_put_plain(intake, kind, event, NULL);
}

/* The limits of a queue; false when there is no such queue yet. */
static bool limits_of(const struct state *state, const char *name, double ret_limits[SHARE_COUNT])
{
    queue_id id = state_find_queue(state, name);

    if (id == NO_ID || !state->queues.items[id].is_present)
        return false;
    memcpy(ret_limits, state->queues.items[id].limit, sizeof state->queues.items[id].limit);
    return true;
}

static bool are_equal(const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a[i] != b[i])
            return false;
    }
    return true;
}

/* Queues are written often, for their status; limits that are left out are worth one line whenever limits change. */
void intake_queue(struct intake *intake, enum watch_kind kind, const struct follow_event *event)
{
    double before[SHARE_COUNT];
    double after[SHARE_COUNT];
    bool was_known = limits_of(intake->state, event->name, before);
    char text[QUEUE_DOUBT_MAX];

    intake_plain(intake, kind, event);
    usage_tell_queue(intake->usage, event->name);
    if (event->change == FOLLOW_DELETED || !limits_of(intake->state, event->name, after) ||
        (was_known && are_equal(before, after, SHARE_COUNT)) || !queue_doubt(event->object, text))
        return;
    complaints_log(intake->complaints, kind, event, text);
}

void intake_event(struct intake *intake, enum watch_kind kind, const struct follow_event *event)
{
    watch_row(kind)->handle(intake, kind, event);
}
