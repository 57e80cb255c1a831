/* SPDX-License-Identifier: Apache-2.0 */

/* One group in numbers, for whoever shows them. What a process counts in its own page goes into the group's sums when the
 * process has ended, GPU by GPU, so that they never fall. */
#include "gpu/daemon/group_view.h"

#include "gpu/daemon/gpud_parts.h"

static void add_session(struct group_view *v, const struct session *s)
{
    const struct ledger_holding *held = session_holding(s, v->gpu);

    v->used += held->plain;
    v->context += held->context;
    v->parked += s->slot->parked;
    if (s->pending.is_used && s->pending.gpu == v->gpu)
        v->wanted += s->pending.bytes;
    if (!s->page.mem)
        return;
    const struct gpu_tenant_line *line = session_line(s, v->gpu);
    v->launches += atomic_load(&line->launches);
    v->wait_ns += atomic_load(&line->wait_ns);
    v->traffic += atomic_load(&line->traffic_bytes);
    v->pinned += atomic_load(&line->pinned_bytes);
}

/* Time under leases until now, with the one that goes on. */
static nsec_t lease_time(const struct group *group, nsec_t now)
{
    const struct arbiter_group *lease;

    if (group->lease < 0)
        return 0;
    lease = &group->gpud->arbiter.groups[group->lease];
    return lease->charged + (arbiter_is_holding(lease) && !lease->is_together ? now - lease->opened_at : 0);
}

static void add_compute(struct group_view *v, nsec_t now)
{
    const struct group *group = v->group;
    const struct arbiter_group *lease;

    if (group->lease < 0)
        return;
    lease = &group->gpud->arbiter.groups[group->lease];
    v->busy = lease_time(group, now);
    v->overrun = lease->overrun;
    v->waited = lease->waited;
    if (now > group->looked_at)
        v->share_actual = (double)(v->busy - group->busy_before) / (double)(now - group->looked_at);
    v->share_actual = CLAMP(v->share_actual, 0.0, 1.0);
}

struct group_view group_view_of(const struct group *group, uint32_t gpu, nsec_t now)
{
    const struct group_gone *gone = &group->gone[gpu];
    struct group_view v = {.group = group,
                           .gpu = gpu,
                           .device = &group->gpud->devices[group->devices[gpu]],
                           .limit = group->spec.mig[0] ? group->slice.bytes : group->spec.limit_bytes,
                           .request = group->spec.mig[0] ? group->slice.bytes : group->spec.request_bytes,
                           .credit = memory_credit(group, gpu),
                           .launches = gone->launches,
                           .wait_ns = gone->wait_ns,
                           .traffic = gone->traffic,
                           .killed = gone->killed};

    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        if (s->slot)
            add_session(&v, s);
    }
    v.used -= MIN(v.credit, v.used);
    add_compute(&v, now);
    return v;
}

void group_view_note_look(struct group *group, nsec_t now)
{
    if (now - group->looked_at < NSEC_PER_SEC)
        return;
    group->busy_before = lease_time(group, now);
    group->looked_at = now;
}
