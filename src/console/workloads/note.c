/* SPDX-License-Identifier: Apache-2.0 */

/* What the cluster says of a workload, as it is written into its item. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "console/data/items.h"
#include "console/notify/notices.h"
#include "console/rest/context.h"
#include "console/workloads/follow.h"
#include "console/workloads/phase.h"
#include "console/workloads/workloads.h"
#include "kube/client/meta.h"

enum { PHASES_KEPT = 64 };

static void put_status(yyjson_mut_doc *doc, yyjson_mut_val *status, const char *key, const char *text)
{
    (void)yyjson_mut_obj_remove_key(status, key);
    if (*text)
        put_text(doc, status, key, text);
}

static int tell(struct console *console, yyjson_val *item, const char *phase, const char *message, struct err *err)
{
    struct notice notice = {
        .event = ITEM_WORKLOAD,
        .detail = phase,
        .id = kube_text(item, "id"),
        .name = kube_text(item, "name"),
        .message = message,
        .place = {.scope = SCOPE_PROJECT},
    };
    struct place *place = &notice.place;

    (void)snprintf(place->department, sizeof place->department, "%s", kube_text(item, "departmentId"));
    (void)snprintf(place->project, sizeof place->project, "%s", kube_text(item, "projectId"));
    (void)snprintf(place->name, sizeof place->name, "%s", kube_text(item, "projectName"));
    return notify_add(console, &notice, err);
}

void workload_set_phase(yyjson_mut_doc *doc, yyjson_mut_val *status, const char *phase, const char *message)
{
    yyjson_mut_val *phases = yyjson_mut_obj_get(status, "phases");

    put_status(doc, status, "phase", phase);
    (void)yyjson_mut_obj_remove_key(status, "phaseUpdatedAt");
    put_now(doc, status, "phaseUpdatedAt");
    if (!phases)
        phases = yyjson_mut_obj_add_arr(doc, status, "phases");
    if (yyjson_mut_arr_size(phases) == PHASES_KEPT)
        (void)yyjson_mut_arr_remove_first(phases);
    yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, phases);
    put_now(doc, entry, "time");
    put_text(doc, entry, "phase", phase);
    put_text(doc, entry, "message", message);
}

static int write_status(struct console *console, yyjson_val *item, const char *phase, const char *message,
                        struct err *err)
{
    const char *id = kube_text(item, "id");
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *copy = copy_item(doc, item);
    yyjson_mut_val *status = yyjson_mut_obj_get(copy, "status");

    if (strcmp(kube_text(item, "status", "phase"), phase) != 0) {
        workload_set_phase(doc, status, phase, message);
        if (phase_is_end(phase))
            put_now(doc, status, "completedAt");
    }
    put_status(doc, status, "message", message);
    int r = item_update(console->db, ITEM_WORKLOAD, id, copy, err);
    if (r == 0 && strcmp(kube_text(item, "status", "phase"), phase) != 0)
        r = tell(console, item, phase, message, err);
    yyjson_mut_doc_free(doc);
    return r < 0 ? r : workload_note_change(console, item, "update", err);
}

int workload_note(struct console *console, const char *id, const char *problem, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *found = NULL;
    int r = item_get(console->db, ITEM_WORKLOAD, id, &found, err);

    if (r < 0)
        return r == -ENOENT ? 0 : r;
    yyjson_val *item = yyjson_doc_get_root(found);
    struct workload_facts facts = workload_facts(console->workloads, id);
    const char *desired = kube_text(item, "desired");
    const char *before = kube_text(item, "status", "phase");
    const char *message = problem ? problem : kube_text(item, "status", "message");
    bool stays = phase_is_end(before) && strcmp(desired, DESIRED_DELETED) != 0;
    const char *phase = stays ? before : workload_phase(desired, &facts);

    if (strcmp(phase, before) == 0 && strcmp(message, kube_text(item, "status", "message")) == 0)
        return 0;
    return write_status(console, item, phase, message, err);
}

int workload_expire(struct console *console, yyjson_val *item, struct err *err)
{
    const char *message = "The workload is deleted: the time after its end, for which it was to be kept, is over.";
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *copy = copy_item(doc, item);

    put_status(doc, copy, "desired", DESIRED_DELETED);
    workload_set_phase(doc, yyjson_mut_obj_get(copy, "status"), "Deleting", message);
    int r = item_update(console->db, ITEM_WORKLOAD, kube_text(item, "id"), copy, err);
    if (r == 0)
        r = tell(console, item, "Deleting", message, err);
    yyjson_mut_doc_free(doc);
    return r < 0 ? r : workload_note_change(console, item, "update", err);
}
