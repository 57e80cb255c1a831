/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Groups that leave their GPU and come back (gpu/protocol/message.h, Parking).
 *
 *     RUNNING -> STOPPING -> TAKING -> MOVING -> PARKED -> RESUMING -> RUNNING
 *
 * STOPPING waits until all processes have stopped and have said what can move; then it is known how much host memory that
 * takes, which the budget must allow. TAKING takes it, in other threads, so that no process can run out of it while it
 * moves. Until then the order is taken back when anything is wrong. What a process holds of host memory is in the book: a
 * next daemon knows it, and the group is parked for that one as well. A process that ends gives its part back wherever the
 * others are.
 */
#include <errno.h>

#include "base/log.h"
#include "gpu/daemon/park/park_internal.h"

bool park_is_there(const struct session *session)
{
    return session->slot && session->events >= 0;
}

uint64_t park_host_bytes(const struct group *group)
{
    uint64_t sum = 0;

    for (const struct session *s = session_first(group); s; s = session_next(s))
        sum += s->slot ? s->slot->parked : 0;
    return sum;
}

uint64_t park_host_taken(const struct gpud *gpud)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++)
        sum += gpud->groups[i] ? park_host_bytes(gpud->groups[i]) : 0;
    return sum;
}

const char *park_state_name(const struct group *group)
{
    static const char *const names[] = {
        [PARK_RUNNING] = "running", [PARK_STOPPING] = "parking", [PARK_TAKING] = "parking",
        [PARK_MOVING] = "parking",  [PARK_PARKED] = "parked",    [PARK_RESUMING] = "resuming",
    };

    return names[group->park.state];
}

uint32_t park_welcome_flags(const struct group *group)
{
    enum park_state state = group->park.state;
    bool is_parked = state != PARK_RUNNING && state != PARK_RESUMING;

    return group->spec.is_parkable ? GPU_WELCOME_PARKABLE | (is_parked ? GPU_WELCOME_PARKED : 0) : 0;
}

void park_tell(struct session *session, enum gpu_message_type type, uint64_t bytes, const int *file)
{
    session_send(session, session->events,
                 &(struct gpu_message){.type = type,
                                       .sequence = session->group->park.number,
                                       .park = {.gpu = PARKED_GPU, .bytes = bytes}},
                 file, file ? 1 : 0);
}

void park_set_state(struct group *group, enum park_state state)
{
    loop_timer_stop(&group->park.deadline);
    group->park.state = state;
    group->park.entered[state] = gpud_now();
    if (state == PARK_RUNNING && group->park.is_displaced)
        park_set_displaced(group, false);
}

/* Nothing has moved yet, or nothing has to stay: the processes that have stopped go on. */
static void let_go_on(struct group *group)
{
    bool has_parked = park_host_bytes(group) > 0;

    for (struct session *s = session_first(group); s; s = session_next(s)) {
        s->is_awaited = false;
        if (park_is_there(s) && s->slot->parked == 0 && !has_parked)
            park_tell(s, GPU_RESUME, 0, NULL);
    }
    park_set_state(group, has_parked ? PARK_PARKED : PARK_RUNNING);
}

void park_give_up(struct group *group, const struct err *why)
{
    park_drop_taking(group);
    /* What was promised to those who have nothing there yet. */
    for (struct session *s = session_first(group); s; s = session_next(s)) {
        if (s->slot && s->is_promised)
            s->slot->parked = 0;
        s->is_promised = false;
    }
    let_go_on(group);
    park_reply_failure(group, why);
}

static void on_deadline(void *arg)
{
    struct group *group = arg;
    struct err why = {0};

    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        if (s->is_awaited)
            (void)err_set(
                &why, -EBUSY,
                "process %d did not stop in %llds: a kernel that does not end, a stream capture that is open, or "
                "a call that waits for another; it continues",
                (int)s->peer.pid, (long long)(group->gpud->config->park_timeout / NSEC_PER_SEC));
    }
    park_give_up(group, &why);
}

static bool has_awaited(const struct group *group)
{
    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        if (s->is_awaited)
            return true;
    }
    return false;
}

static void finish_parking(struct group *group)
{
    struct err why = {0};
    struct gpud *gpud = group->gpud;

    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        if (park_is_there(s) && s->stopped.park.bytes > 0 && s->slot->parked == 0)
            (void)err_set(&why, -EIO,
                          "process %d could not copy its memory: it continues, and its memory is still on the GPU",
                          (int)s->peer.pid);
    }
    if (why.code < 0) {
        let_go_on(group);
        park_reply_failure(group, &why);
        return;
    }
    park_set_state(group, PARK_PARKED);
    log_info(gpud->log, "group parked", log_str("group", group->spec.name),
             log_int("hostBytes", (int64_t)park_host_bytes(group)));
    park_reply_state(group);
}

void park_go_on(struct group *group)
{
    struct err why = {0};

    if (has_awaited(group))
        return;
    switch (group->park.state) {
    case PARK_STOPPING:
        if (park_take_host_memory(group, &why) < 0)
            park_give_up(group, &why);
        break;
    case PARK_MOVING:
        finish_parking(group);
        break;
    case PARK_RESUMING:
        if (park_host_bytes(group) == 0) {
            park_set_state(group, PARK_RUNNING);
            log_info(group->gpud->log, "group resumed", log_str("group", group->spec.name));
            park_reply_state(group);
            break;
        }
        park_set_state(group, PARK_PARKED);
        (void)err_set(&why, -EBUSY,
                      "the driver does not have enough memory on the GPU: %.1f GiB stay in host memory; try again",
                      (double)park_host_bytes(group) / GIB);
        park_reply_failure(group, &why);
        break;
    default:
        break;
    }
}

void park_stopped(struct session *session, const struct gpu_message *message)
{
    struct group *group = session->group;

    if (group->park.state != PARK_STOPPING || !session->is_awaited) {
        /* Told by an earlier daemon, or too late. */
        if (group->park.state == PARK_RUNNING)
            park_tell(session, GPU_RESUME, 0, NULL);
        return;
    }
    if (message->sequence != group->park.number)
        return;
    session->stopped = *message;
    /* More than it holds cannot be moved, whatever it says. */
    session->stopped.park.bytes = MIN(message->park.bytes, session_holding(session, PARKED_GPU)->plain);
    session->is_awaited = false;
    park_go_on(group);
}

void park_parked(struct session *session, const struct gpu_message *message)
{
    struct group *group = session->group;
    /* One that comes back may know of more than the book; nobody has parked more than its limit. */
    uint64_t most = MAX(session->slot->parked, session->may_attach ? group->spec.limit_bytes : 0);

    session->moved = *message;
    session->slot->parked = session->is_promised ? session->slot->parked : MIN(message->park.bytes, most);
    memory_take_back(session);
    if (session->is_awaited && group->park.state == PARK_MOVING) {
        session->is_awaited = false;
        park_go_on(group);
        return;
    }
    /* It was still moving for an earlier daemon when it was told to come back. */
    if (session->is_awaited && group->park.state == PARK_RESUMING) {
        session->is_awaited = session->slot->parked == 0;
        if (session->is_awaited)
            park_tell(session, GPU_RESUME, 0, NULL);
        park_go_on(group);
        return;
    }
    if (group->park.state == PARK_RUNNING && session->slot->parked > 0)
        park_adopt(session);
    else if (group->park.state == PARK_RUNNING || group->park.state == PARK_PARKED)
        let_go_on(group);
}

void park_resumed(struct session *session, const struct gpu_message *message)
{
    struct group *group = session->group;

    session->moved = *message;
    session->slot->parked = MIN(message->park.bytes, session->slot->parked);
    memory_take_back(session);
    if (session->is_awaited && group->park.state == PARK_RESUMING) {
        session->is_awaited = false;
        park_go_on(group);
    } else if (group->park.state == PARK_STOPPING) {
        /* It was still coming back for an earlier daemon. */
        session->is_awaited = true;
        park_tell(session, GPU_PARK, 0, NULL);
    } else if (group->park.state == PARK_PARKED && park_host_bytes(group) == 0) {
        let_go_on(group);
    }
}

/* It will not answer any more, or not soon: what it has in host memory counts as long as its process lives. */
void park_forget(struct session *session, bool has_ended)
{
    struct group *group = session->group;
    bool was_awaited = session->is_awaited;

    session->is_awaited = false;
    if (session->slot && (has_ended || session->is_promised))
        session->slot->parked = 0;
    session->is_promised = false;
    if (was_awaited)
        park_go_on(group);
    else if (group->park.state == PARK_PARKED && has_ended && park_host_bytes(group) == 0)
        let_go_on(group);
}

void park_init(struct group *group)
{
    loop_timer_init(&group->park.deadline, group->gpud->loop, on_deadline, group);
}

void park_done(struct group *group)
{
    struct err why = {0};

    park_drop_taking(group);
    loop_timer_done(&group->park.deadline);
    group->park.deadline = (struct loop_timer){0};
    group->park.state = PARK_RUNNING;
    if (group->park.exchange) {
        (void)err_set(&why, -ENOENT, "group %s has been removed, or the daemon ends", group->spec.name);
        park_reply_failure(group, &why);
    }
}

void park_adopt(struct session *session)
{
    struct group *group = session->group;

    if (session->slot->parked == 0)
        return;
    park_set_state(group, PARK_PARKED);
    if (session->slot->is_displaced)
        park_set_displaced(group, true);
}
