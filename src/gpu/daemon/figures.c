/* SPDX-License-Identifier: Apache-2.0 */

/* What the daemon knows, as JSON for people's commands. */
#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "gpu/daemon/gpud_parts.h"
#include "gpu/daemon/group_view.h"
#include "text/json.h"

static const char *state_name(const struct group *group)
{
    static const char *const names[] = {"idle", "waiting", "running", "draining", "stuck"};

    if (group->spec.mig[0])
        return "slice";
    if (group->park.state != PARK_RUNNING)
        return park_state_name(group);
    if (group->lease < 0)
        return "free";
    if (group->gpud->arbiter.groups[group->lease].is_together)
        return "together";
    return names[group->gpud->arbiter.groups[group->lease].state];
}

static void add_processes(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct group *group, uint32_t gpu)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, to, "processes");

    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        if (!s->slot)
            continue;
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        const struct ledger_holding *held = session_holding(s, gpu);
        uint64_t credit = s->page.mem ? atomic_load(&session_line(s, gpu)->credit_bytes) : 0;

        (void)yyjson_mut_obj_add_int(doc, one, "pid", s->peer.pid);
        (void)yyjson_mut_obj_add_strcpy(doc, one, "name", s->name);
        (void)yyjson_mut_obj_add_uint(doc, one, "usedBytes", held->plain - MIN(credit, held->plain));
        (void)yyjson_mut_obj_add_uint(doc, one, "creditBytes", MIN(credit, held->plain));
        (void)yyjson_mut_obj_add_uint(doc, one, "contextBytes", held->context);
        if (s->pending.is_used && s->pending.gpu == gpu)
            (void)yyjson_mut_obj_add_uint(doc, one, "wantedBytes", s->pending.bytes);
        (void)yyjson_mut_obj_add_bool(doc, one, "connected", s->fd >= 0);
    }
}

/* What holds the group to its limits, and why it is that. */
static void add_enforcement(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct group *group,
                            const struct device *device)
{
    static const char *const without_slice[] = {
        [MIG_UNSUPPORTED] = "the GPU has no MIG",
        [MIG_OFF] = "MIG mode of the GPU is off",
        [MIG_ON] = "MIG mode of the GPU was switched on later",
        [MIG_UNKNOWN] = "the driver does not say whether the GPU has MIG",
    };
    yyjson_mut_val *one = yyjson_mut_obj_add_obj(doc, to, "enforcement");
    char text[256];

    if (group->spec.mig[0]) {
        (void)yyjson_mut_obj_add_str(doc, one, "by", "mig");
        (void)yyjson_mut_obj_add_str(doc, one, "reason", "the group requested a slice, which the GPU itself enforces");
        (void)yyjson_mut_obj_add_str(doc, to, "mig", group->spec.mig);
        (void)yyjson_mut_obj_add_str(doc, to, "slice", group->slice.uuid);
        return;
    }
    (void)snprintf(text, sizeof text, "the group requested no slice (%s); %s", without_slice[device->mig.mode],
                   group->gpud->has_driver_limits ? "Muster does not use the driver's own limits yet"
                                                  : "the driver has no limits of its own");
    (void)yyjson_mut_obj_add_str(doc, one, "by", "muster");
    (void)yyjson_mut_obj_add_strcpy(doc, one, "reason", text);
}

static void add_mig(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct mig_view *view)
{
    static const char *const uses[] = {[MIG_USED] = "used", [MIG_IDLE] = "idle", [MIG_FOREIGN] = "foreign"};
    yyjson_mut_val *mig = yyjson_mut_obj_add_obj(doc, to, "mig");

    (void)yyjson_mut_obj_add_str(doc, mig, "mode", mig_mode_name(view->mode));
    if (view->mode != MIG_ON)
        return;
    yyjson_mut_val *profiles = yyjson_mut_obj_add_arr(doc, mig, "profiles");
    for (uint32_t i = 0; i < view->profile_count; i++) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, profiles);

        (void)yyjson_mut_obj_add_str(doc, one, "name", view->profiles[i].name);
        (void)yyjson_mut_obj_add_uint(doc, one, "bytes", view->profiles[i].bytes);
        (void)yyjson_mut_obj_add_uint(doc, one, "room", view->profiles[i].room);
    }
    yyjson_mut_val *slices = yyjson_mut_obj_add_arr(doc, mig, "slices");
    for (uint32_t i = 0; i < view->slice_count; i++) {
        const struct mig_view_slice *slice = &view->slices[i];
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, slices);

        (void)yyjson_mut_obj_add_str(doc, one, "profile", slice->profile);
        (void)yyjson_mut_obj_add_uint(doc, one, "start", slice->place.start);
        (void)yyjson_mut_obj_add_uint(doc, one, "size", slice->place.size);
        (void)yyjson_mut_obj_add_str(doc, one, "uuid", slice->uuid);
        (void)yyjson_mut_obj_add_str(doc, one, "use", uses[slice->use]);
        if (slice->owner[0])
            (void)yyjson_mut_obj_add_str(doc, one, "group", slice->owner);
    }
}

/* What was done about memory that it had borrowed. */
static void add_reclaim(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct group *group, nsec_t now)
{
    const struct group_reclaim *reclaim = &group->reclaim;
    yyjson_mut_val *one = yyjson_mut_obj_add_obj(doc, to, "reclaim");

    for (enum reclaim_step step = RECLAIM_TRIM; step < RECLAIM_REFUSE; step++)
        (void)yyjson_mut_obj_add_uint(doc, one, reclaim_step_name(step), reclaim->done[step]);
    if (!reclaim->last[0])
        return;
    (void)yyjson_mut_obj_add_str(doc, one, "last", reclaim->last);
    (void)yyjson_mut_obj_add_real(doc, one, "secondsAgo", (double)(now - reclaim->last_at) / (double)NSEC_PER_SEC);
}

/* Processes that the daemon has ended, the last one first; some of them of groups that are gone. */
static void add_endings(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct gpud *gpud, nsec_t now)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, to, "endings");

    for (uint64_t i = 0; i < MIN(gpud->ending_count, (uint64_t)ENDINGS_MAX); i++) {
        const struct ending *ending = &gpud->endings[(gpud->ending_count - 1 - i) % ENDINGS_MAX];
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);

        (void)yyjson_mut_obj_add_str(doc, one, "group", ending->group);
        (void)yyjson_mut_obj_add_int(doc, one, "pid", ending->pid);
        (void)yyjson_mut_obj_add_str(doc, one, "reason", gpu_reason_name(ending->reason));
        (void)yyjson_mut_obj_add_str(doc, one, "text", ending->text);
        (void)yyjson_mut_obj_add_real(doc, one, "secondsAgo", (double)(now - ending->at) / (double)NSEC_PER_SEC);
    }
}

static void add_group(yyjson_mut_doc *doc, yyjson_mut_val *to, struct group *group, nsec_t now)
{
    char path[256];

    group_path(group, path, sizeof path);
    for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
        struct group_view v = group_view_of(group, gpu, now);
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, to);

        (void)yyjson_mut_obj_add_str(doc, one, "group", group->spec.name);
        if (!group->spec.mig[0])
            (void)yyjson_mut_obj_add_strcpy(doc, one, "socket", path);
        (void)yyjson_mut_obj_add_str(doc, one, "gpu", v.device->spec.uuid);
        (void)yyjson_mut_obj_add_str(doc, one, "mode", gpu_mode_name(group->spec.mode));
        (void)yyjson_mut_obj_add_str(doc, one, "priority", gpu_priority_name(group->spec.is_urgent));
        (void)yyjson_mut_obj_add_str(doc, one, "state", state_name(group));
        (void)yyjson_mut_obj_add_real(doc, one, "share", (double)group->spec.share / ARBITER_WHOLE);
        (void)yyjson_mut_obj_add_real(doc, one, "shareActual", v.share_actual);
        (void)yyjson_mut_obj_add_real(doc, one, "leaseSeconds", (double)v.busy / (double)NSEC_PER_SEC);
        (void)yyjson_mut_obj_add_uint(doc, one, "requestBytes", v.request);
        (void)yyjson_mut_obj_add_uint(doc, one, "limitBytes", v.limit);
        (void)yyjson_mut_obj_add_uint(doc, one, "usedBytes", v.used);
        (void)yyjson_mut_obj_add_uint(doc, one, "contextBytes", v.context);
        (void)yyjson_mut_obj_add_uint(doc, one, "creditBytes", v.credit);
        (void)yyjson_mut_obj_add_uint(doc, one, "wantedBytes", v.wanted);
        if (group->spec.is_parkable) {
            (void)yyjson_mut_obj_add_uint(doc, one, "parkedBytes", v.parked);
            (void)yyjson_mut_obj_add_bool(doc, one, "displaced", group->park.is_displaced);
        }
        (void)yyjson_mut_obj_add_uint(doc, one, "launches", v.launches);
        (void)yyjson_mut_obj_add_uint(doc, one, "denied",
                                      group->denied[GPU_REASON_LIMIT] + group->denied[GPU_REASON_EXHAUSTED]);
        (void)yyjson_mut_obj_add_uint(doc, one, "killed", v.killed);
        (void)yyjson_mut_obj_add_uint(doc, one, "badMessages", group->bad_messages);
        add_reclaim(doc, one, group, now);
        add_enforcement(doc, one, group, v.device);
        add_processes(doc, one, group, gpu);
    }
    group_view_note_look(group, now);
}

void figures_status(struct gpud *gpud, struct strbuf *text)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *gpus = yyjson_mut_obj_add_arr(doc, root, "gpus");
    yyjson_mut_val *groups = yyjson_mut_obj_add_arr(doc, root, "groups");
    nsec_t now = gpud_now();
    size_t len = 0;

    watcher_glance(gpud);
    yyjson_mut_doc_set_root(doc, root);
    (void)yyjson_mut_obj_add_real(doc, root, "uptimeSeconds", (double)(now - gpud->started) / (double)NSEC_PER_SEC);
    (void)yyjson_mut_obj_add_bool(doc, root, "watchesDriver", watcher_is_watching(gpud));
    (void)yyjson_mut_obj_add_uint(doc, root, "unregisteredProcesses", gpud->unregistered);
    (void)yyjson_mut_obj_add_uint(doc, root, "hostBudgetBytes", gpud->config->host_bytes);
    (void)yyjson_mut_obj_add_uint(doc, root, "hostTakenBytes", park_host_taken(gpud));
    for (uint32_t i = 0; i < gpud->device_count; i++) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, gpus);

        (void)yyjson_mut_obj_add_str(doc, one, "uuid", gpud->devices[i].spec.uuid);
        (void)yyjson_mut_obj_add_str(doc, one, "name", gpud->devices[i].spec.name);
        (void)yyjson_mut_obj_add_uint(doc, one, "totalBytes", gpud->devices[i].spec.memory_bytes);
        (void)yyjson_mut_obj_add_uint(doc, one, "capacityBytes", gpud->ledger.capacity[i]);
        (void)yyjson_mut_obj_add_uint(doc, one, "requestedBytes", gpud->ledger.requested[i]);
        (void)yyjson_mut_obj_add_uint(doc, one, "takenBytes", gpud->ledger.taken[i]);
        (void)yyjson_mut_obj_add_uint(doc, one, "looks", gpud->devices[i].looks);
        if (watcher_knows(gpud, i))
            (void)yyjson_mut_obj_add_uint(doc, one, "driverUsedBytes", gpud->devices[i].nvml_used);
        add_mig(doc, one, &gpud->devices[i].mig);
    }
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        if (gpud->groups[i])
            add_group(doc, groups, gpud->groups[i], now);
    }
    add_endings(doc, root, gpud, now);
    char *json = yyjson_mut_write(doc, 0, &len);
    BUG_ON(!json);
    strbuf_add(text, json, len);
    free(json);
    yyjson_mut_doc_free(doc);
}
