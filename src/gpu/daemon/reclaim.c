/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Memory that groups hold beyond their requests comes back to whom it is kept for. Unused credit was taken back before
 * anybody waits; the owner then waits, and in the meantime:
 *
 *     at once                      all borrowers are told to let go of what lies in their caches, and may not grow
 *     after a part of the deadline the one furthest beyond its request is parked, if it can be; then the next one
 *     at the deadline              a process of the one furthest beyond its request is ended; then the next one
 *
 * A group at or below its request is never touched. What is parked and ended is recorded with its reason.
 */
#include <stdio.h>

#include "base/log.h"
#include "gpu/daemon/gpud_parts.h"

/* How often an owner looks again, for what needs no message: credit, and groups that are leaving. */
#define LOOK (25 * NSEC_PER_MSEC)

/* Caches are emptied within this part of the deadline, or not at all. */
enum { TRIM_PART = 4 };

/* A group that is leaving has this time beyond the deadline, and then the process that was killed has as much to end: what is
 * under way is soon done, but not waited for for ever. */
#define PATIENCE (6 * NSEC_PER_SEC)

#define GIB ((double)(1 << 30))

const char *reclaim_step_name(enum reclaim_step step)
{
    static const char *const names[] = {
        [RECLAIM_TRIM] = "trim", [RECLAIM_PARK] = "park", [RECLAIM_KILL] = "kill", [RECLAIM_REFUSE] = "refuse"};

    return names[step];
}

void reclaim_note(struct group *group, enum reclaim_step step, const struct group *owner, uint64_t bytes)
{
    static const char *const what[] = {
        [RECLAIM_TRIM] = "asked to give back", [RECLAIM_PARK] = "parked", [RECLAIM_KILL] = "a process was ended"};
    struct group_reclaim *reclaim = &group->reclaim;
    uint32_t device = group->devices[0];
    int gpu = group_gpu(group, owner->devices[0]);

    if (gpu >= 0)
        device = group->devices[gpu];
    reclaim->done[step]++;
    reclaim->last_at = gpud_now();
    (void)snprintf(reclaim->last, sizeof reclaim->last,
                   "%s: group '%s' needs %.2f GiB, and this group used %.2f GiB beyond its reserved %.2f GiB",
                   what[step], owner->spec.name, (double)bytes / GIB,
                   (double)ledger_borrowed(&group->gpud->ledger, group->index, device) / GIB,
                   (double)group->spec.request_bytes / GIB);
    log_info(group->gpud->log, "borrowed memory is reclaimed", log_str("group", group->spec.name),
             log_str("owner", owner->spec.name), log_str("step", reclaim_step_name(step)),
             log_str("why", reclaim->last));
}

/* The group that has borrowed most in relation to its request, and has processes; of those that are parked already, or of all
 * others. */
static struct group *worst_of(const struct gpud *gpud, uint32_t device, const struct group *owner, bool is_parked)
{
    struct group *worst = NULL;
    double most = 0;

    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        struct group *group = gpud->groups[i];

        if (!group || group == owner || group->sessions.len == 0 || (group->park.state == PARK_PARKED) != is_parked)
            continue;
        double borrowed = (double)ledger_borrowed(&gpud->ledger, i, device);
        double over = borrowed / ((double)gpud->ledger.groups[i].request[device] + 1);

        if (borrowed > 0 && over > most) {
            worst = group;
            most = over;
        }
    }
    return worst;
}

/* What has left the GPU comes last: what little of it is still there cannot move. */
static struct group *worst_borrower(const struct gpud *gpud, uint32_t device, const struct group *owner)
{
    struct group *worst = worst_of(gpud, device, owner, false);

    return worst ? worst : worst_of(gpud, device, owner, true);
}

static void ask_borrowers(struct gpud *gpud, uint32_t device, const struct group *owner, uint64_t bytes)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        struct group *group = gpud->groups[i];
        int gpu = group && group != owner ? group_gpu(group, device) : -1;
        uint64_t borrowed = gpu >= 0 ? ledger_borrowed(&gpud->ledger, i, device) : 0;

        if (borrowed == 0)
            continue;
        uint64_t wanted = MIN(borrowed, bytes);
        struct gpu_message trim = {.type = GPU_TRIM, .memory = {.gpu = (uint32_t)gpu, .bytes = wanted}};

        atomic_store(&group_line(group, (uint32_t)gpu)->trim_bytes, wanted);
        reclaim_note(group, RECLAIM_TRIM, owner, bytes);
        for (struct session *s = session_first(group); s; s = session_next(s)) {
            if (s->events >= 0)
                session_send(s, s->events, &trim, NULL, 0);
        }
    }
}

bool reclaim_has_waiting(const struct gpud *gpud, const struct group *asker, uint32_t device)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        const struct group *group = gpud->groups[i];

        for (struct session *s = group && group != asker ? session_first(group) : NULL; s; s = session_next(s)) {
            if (s->pending.is_used && !s->pending.is_loan && group->devices[s->pending.gpu] == device)
                return true;
        }
    }
    return false;
}

bool reclaim_is_owed(const struct gpud *gpud, const struct group *asker, uint32_t device)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        const struct group *group = gpud->groups[i];

        if (group && group != asker && group->devices[0] == device && park_wants_back(group))
            return true;
    }
    return reclaim_has_waiting(gpud, asker, device);
}

static void clear_trim(struct gpud *gpud, uint32_t device)
{
    if (reclaim_has_waiting(gpud, NULL, device))
        return;
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        int gpu = gpud->groups[i] ? group_gpu(gpud->groups[i], device) : -1;

        if (gpu >= 0)
            atomic_store(&group_line(gpud->groups[i], (uint32_t)gpu)->trim_bytes, 0);
    }
}

void reclaim_end(struct session *session)
{
    struct gpud *gpud = session->group->gpud;
    struct pending pending = session->pending;
    uint32_t device = session->group->devices[pending.gpu];

    if (!pending.is_used)
        return;
    loop_timer_done(&session->pending.timer);
    session->pending = (struct pending){0};
    if (!pending.is_loan) {
        patience_note(&session->patience, pending.since, gpud_now());
        gpud->devices[device].reclaims[pending.step]++;
    }
    clear_trim(gpud, device);
}

static struct session *youngest(const struct group *group, uint32_t gpu)
{
    struct session *found = NULL;

    for (struct session *s = session_first(group); s; s = session_next(s)) {
        const struct ledger_holding *held = s->slot ? session_holding(s, gpu) : NULL;

        if (held && held->plain + held->context > 0 && (!found || s->since > found->since))
            found = s;
    }
    return found;
}

/* What it gives back may be enough. */
static bool has_killed(const struct group *group)
{
    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        if (s->is_killed)
            return true;
    }
    return false;
}

/* Whether a group is on its way from the GPU, for an owner. */
static bool is_any_leaving(const struct gpud *gpud, uint32_t device)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        const struct group *group = gpud->groups[i];

        if (group && group->devices[0] == device && group->park.is_displaced && group->park.state != PARK_PARKED &&
            group->park.state != PARK_RESUMING)
            return true;
    }
    return false;
}

/* Ends the youngest process of the group that holds anything, unless one that was told to end is still there. */
static bool end_one(struct group *group, struct session *owner)
{
    uint32_t device = owner->group->devices[owner->pending.gpu];
    uint32_t gpu = (uint32_t)group_gpu(group, device);
    struct session *victim = youngest(group, gpu);
    char text[ENDING_TEXT_SIZE];

    if (has_killed(group))
        return true;
    if (!victim)
        return false;
    reclaim_note(group, RECLAIM_KILL, owner->group, owner->pending.bytes);
    (void)snprintf(text, sizeof text, "%s", group->reclaim.last);
    session_kill(victim, GPU_REASON_RECLAIMED, gpu, text);
    return true;
}

bool reclaim_may_come(const struct session *session, uint32_t gpu)
{
    const struct group *group = session->group;
    const struct gpud *gpud = group->gpud;
    uint32_t device = group->devices[gpu];

    return gpud->config->reclaim_action >= RECLAIM_BY_PARK &&
           (is_any_leaving(gpud, device) ||
            (group->spec.is_parkable && park_next_to_leave(gpud, device, group) != NULL));
}

static void refuse(struct session *session)
{
    struct pending pending = session->pending;

    session->pending.step = RECLAIM_REFUSE;
    reclaim_end(session);
    memory_refuse(session, &pending);
}

static void again(struct session *owner, nsec_t at)
{
    loop_timer_start(&owner->pending.timer, CLAMP(at - gpud_now(), NSEC_PER_MSEC, LOOK));
}

/* Parkable groups make room for each other, in turns. */
static void look_for_loan(void *arg)
{
    struct session *session = arg;
    struct pending *pending = &session->pending;
    struct group *group = session->group;
    struct gpud *gpud = group->gpud;
    uint32_t device = group->devices[pending->gpu];

    memory_retry(gpud);
    if (!pending->is_used)
        return;
    bool is_leaving = is_any_leaving(gpud, device);
    struct group *next = is_leaving || !group->spec.is_parkable ? NULL : park_next_to_leave(gpud, device, group);
    if (next && park_displace(next)) {
        pending->step = RECLAIM_PARK;
        reclaim_note(next, RECLAIM_PARK, group, pending->bytes);
        is_leaving = true;
    }
    if (is_leaving && gpud_now() < pending->deadline)
        again(session, pending->deadline);
    else
        refuse(session);
}

static void look(void *arg)
{
    struct session *owner = arg;
    struct pending *pending = &owner->pending;
    struct group *group = owner->group;
    struct gpud *gpud = group->gpud;
    uint32_t device = group->devices[pending->gpu];
    nsec_t now = gpud_now();

    memory_retry(gpud);
    if (!pending->is_used)
        return;
    struct group *worst = worst_borrower(gpud, device, group);
    bool is_leaving = is_any_leaving(gpud, device);
    bool may_park = now >= pending->since + (pending->deadline - pending->since) / TRIM_PART &&
                    gpud->config->reclaim_action >= RECLAIM_BY_PARK;

    if (worst && may_park && !is_leaving && park_displace(worst)) {
        pending->step = MAX(pending->step, RECLAIM_PARK);
        reclaim_note(worst, RECLAIM_PARK, group, pending->bytes);
        is_leaving = true;
    }
    nsec_t end = pending->deadline + (is_leaving ? PATIENCE : 0);
    if (now < end) {
        again(owner, end);
        return;
    }
    if (worst && gpud->config->reclaim_action == RECLAIM_BY_KILL && now < end + PATIENCE && end_one(worst, owner)) {
        pending->step = RECLAIM_KILL;
        again(owner, now + LOOK);
        return;
    }
    refuse(owner);
}

static void begin(struct session *session, const struct gpu_message *message, uint64_t bytes, loop_fn look_again)
{
    struct group *group = session->group;
    nsec_t now = gpud_now();

    session->pending = (struct pending){.is_used = true,
                                        .sequence = message->sequence,
                                        .gpu = message->memory.gpu,
                                        .kind = (enum gpu_memory_kind)message->memory.kind,
                                        .bytes = bytes,
                                        .since = now,
                                        .step = RECLAIM_TRIM};
    session->pending.deadline = now + patience_left(&session->patience, group->gpud->config->reclaim_deadline, now);
    loop_timer_init(&session->pending.timer, group->gpud->loop, look_again, session);
}

void reclaim_wait(struct session *session, const struct gpu_message *message, uint64_t bytes)
{
    struct group *group = session->group;

    begin(session, message, bytes, look);
    again(session, session->pending.deadline);
    ask_borrowers(group->gpud, group->devices[message->memory.gpu], group, bytes);
}

void reclaim_wait_for_loan(struct session *session, const struct gpu_message *message, uint64_t bytes)
{
    begin(session, message, bytes, look_for_loan);
    session->pending.is_loan = true;
    session->pending.deadline = session->pending.since + PATIENCE;
    again(session, session->pending.since);
}
