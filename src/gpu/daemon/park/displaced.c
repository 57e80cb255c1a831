/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Groups that were parked because an owner needed the memory that they had borrowed (reclaim.c). They come back by
 * themselves as soon as one of their calls waits and all of their memory fits. Where it does not fit, because others have
 * borrowed it by then, those take turns with them: whoever has been on the GPU longest, and long enough, makes room. How long is
 * enough follows from what the change costs, so that most of the time is work.
 */
#include "gpu/daemon/park/park_internal.h"

/* How often groups that are away are looked at. */
#define LOOK (50 * NSEC_PER_MSEC)

/* One that could not be parked or resumed is not tried again at once. */
#define APART (5 * NSEC_PER_SEC)

/* A turn is at least so long, and this many times what it takes to leave and to come back. */
#define TURN_MIN NSEC_PER_SEC
enum { TURN_COSTS = 5 };

void park_set_displaced(struct group *group, bool is_displaced)
{
    struct gpud *gpud = group->gpud;

    group->park.is_displaced = is_displaced;
    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        if (s->slot)
            s->slot->is_displaced = is_displaced;
    }
    if (is_displaced && !loop_timer_is_running(&gpud->returning))
        loop_timer_start(&gpud->returning, LOOK);
}

static bool has_just_failed(const struct group *group)
{
    return group->park.failed_at != 0 && gpud_now() - group->park.failed_at < APART;
}

bool park_displace(struct group *group)
{
    if (!group->spec.is_parkable || group->park.state != PARK_RUNNING || has_just_failed(group) ||
        park_begin(group, NULL) < 0)
        return false;
    park_set_displaced(group, group->park.state != PARK_RUNNING);
    return group->park.is_displaced;
}

/* Something of it waits to go on. */
static bool has_held_calls(const struct group *group)
{
    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        if (s->page.mem && atomic_load(&session_line(s, PARKED_GPU)->held) > 0)
            return true;
    }
    return false;
}

bool park_wants_back(const struct group *group)
{
    return group->park.is_displaced && group->park.state == PARK_PARKED && has_held_calls(group);
}

static nsec_t took(const struct group *group, enum park_state from, enum park_state to)
{
    return MAX(group->park.entered[to] - group->park.entered[from], (nsec_t)0);
}

/* How long a group stays where it is before it has to make room. */
static nsec_t turn_of(const struct group *group)
{
    nsec_t cost = took(group, PARK_STOPPING, PARK_PARKED) + took(group, PARK_RESUMING, PARK_RUNNING);

    return MAX(TURN_MIN, TURN_COSTS * cost);
}

/* Whether the group has been in its state for a turn. */
static bool is_over(const struct group *group, nsec_t now)
{
    return now - group->park.entered[group->park.state] >= turn_of(group);
}

/* It cannot stop while one of its calls waits for memory. */
static bool has_pending(const struct group *group)
{
    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        if (s->pending.is_used)
            return true;
    }
    return false;
}

/* Of several, the one that has been there longest. */
struct group *park_next_to_leave(const struct gpud *gpud, uint32_t device, const struct group *asker)
{
    struct group *found = NULL;
    nsec_t now = gpud_now();

    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        struct group *group = gpud->groups[i];

        if (!group || group == asker || !group->spec.is_parkable || group->devices[PARKED_GPU] != device ||
            group->park.state != PARK_RUNNING || !is_over(group, now) || has_just_failed(group) || has_pending(group) ||
            ledger_borrowed(&gpud->ledger, i, device) == 0)
            continue;
        if (!found || group->park.entered[PARK_RUNNING] < found->park.entered[PARK_RUNNING])
            found = group;
    }
    return found;
}

/* Whether a group of this GPU is on its way. */
static bool is_any_moving(const struct gpud *gpud, uint32_t device)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        const struct group *group = gpud->groups[i];

        if (group && group->spec.is_parkable && group->devices[PARKED_GPU] == device &&
            group->park.state != PARK_RUNNING && group->park.state != PARK_PARKED)
            return true;
    }
    return false;
}

/* The one that has been away longest, of those that want to come back to the GPU. */
static struct group *find_next_to_return(const struct gpud *gpud, uint32_t device)
{
    struct group *found = NULL;

    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        struct group *group = gpud->groups[i];

        if (group && group->devices[PARKED_GPU] == device && park_wants_back(group) && !has_just_failed(group) &&
            (!found || group->park.entered[PARK_PARKED] < found->park.entered[PARK_PARKED]))
            found = group;
    }
    return found;
}

static void look_at(struct gpud *gpud, uint32_t device, nsec_t now)
{
    struct group *group = is_any_moving(gpud, device) ? NULL : find_next_to_return(gpud, device);

    /* Owners of memory come first: they wait for what this one would take. */
    if (!group || reclaim_has_waiting(gpud, group, device))
        return;
    if (park_begin_return(group, NULL) >= 0 || !is_over(group, now))
        return;
    struct group *next = park_next_to_leave(gpud, device, group);
    if (next && park_displace(next))
        reclaim_note(next, RECLAIM_PARK, group, park_host_bytes(group));
}

void park_look_for_room(void *arg)
{
    struct gpud *gpud = arg;
    nsec_t now = gpud_now();
    bool has_displaced = false;

    for (uint32_t device = 0; device < gpud->device_count; device++)
        look_at(gpud, device, now);
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++)
        has_displaced |= gpud->groups[i] && gpud->groups[i]->park.is_displaced;
    if (has_displaced)
        loop_timer_start(&gpud->returning, LOOK);
}
