/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Between the arbiter, which thinks of groups, and the gates in the control pages, which processes look at. A group's
 * gates are opened and closed together; its lease ends when the last of its processes that launched under it has said so.
 *
 * A process is active under a lease when its own page says that it launched under one of the lease's words. It writes that
 * before it looks at the gate again, and the gate is closed here before its page is read: one of the two sees the other.
 */
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "gpu/daemon/gpud_parts.h"

/* Who has been alone with its GPUs for a while may have more work in the driver's queues, so that kernels follow each other
 * without a gap however long they are; whoever comes next waits for that once. */
#define ALONE_AFTER (100 * NSEC_PER_MSEC)
#define ALONE_BACKLOG (10 * NSEC_PER_MSEC)

/* While an urgent group is about, the others keep no more than this queued; it gives its lease back as soon. */
#define HURRIED_BACKLOG (200 * NSEC_PER_USEC)
#define URGENT_IDLE (300 * NSEC_PER_USEC)

struct gpu_control_line *group_line(const struct group *group, uint32_t gpu)
{
    return &((struct gpu_control_page *)group->page.mem)->gpus[gpu];
}

static uint32_t word_of(const struct group *group, uint32_t gpu)
{
    return atomic_load(&group_line(group, gpu)->word);
}

/* Whether a word is of this lease: words go round after 2^30 changes. */
static bool is_of_lease(const struct group *group, uint32_t gpu, uint32_t word)
{
    return gpu_gate_state(word) == GPU_GATE_OPEN && (int32_t)(word - group->first_word[gpu]) >= 0 &&
           (int32_t)(word_of(group, gpu) - word) >= 0;
}

static bool is_active(const struct session *session, uint32_t gpu)
{
    uint32_t word;

    if (!session->page.mem || session->fd < 0)
        return false;
    word = atomic_load(&session_line(session, gpu)->active_word);
    return is_of_lease(session->group, gpu, word) && word != session->gpus[gpu].yielded_word;
}

static bool has_active(const struct group *group)
{
    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
            if (is_active(s, gpu))
                return true;
        }
    }
    return false;
}

static bool has_awaited(const struct group *group)
{
    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
            if (s->gpus[gpu].is_awaited)
                return true;
        }
    }
    return false;
}

static void set_gates(struct group *group, enum gpu_gate_state state)
{
    for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++)
        gate_set(group_line(group, gpu), state);
}

static void set_backlog(struct group *group, nsec_t backlog)
{
    for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++)
        atomic_store(&group_line(group, gpu)->backlog_ns, (uint64_t)backlog);
}

static void on_alone(void *arg)
{
    struct group *group = arg;

    set_backlog(group, MAX(group->gpud->config->backlog, ALONE_BACKLOG));
}

static enum arbiter_pace pace_of(const struct group *group)
{
    return group->gpud->arbiter.groups[group->lease].pace;
}

static bool is_together(const struct group *group)
{
    return group->gpud->arbiter.groups[group->lease].is_together;
}

static nsec_t backlog_at(const struct group *group, enum arbiter_pace pace)
{
    nsec_t usual = group->gpud->config->backlog;

    switch (pace) {
    case ARBITER_PACE_HURRIED:
        return MIN(usual, HURRIED_BACKLOG);
    case ARBITER_PACE_TOGETHER:
        return MAX(usual, ALONE_BACKLOG);
    default:
        return usual;
    }
}

/* A strict share pays for time in which it holds the GPU without using it, so that it always wants to say so. */
static void set_pace(struct group *group)
{
    enum arbiter_pace pace = group->lease >= 0 ? pace_of(group) : ARBITER_PACE_ALONE;
    bool shares = pace != ARBITER_PACE_ALONE || group->spec.cap < ARBITER_WHOLE || group->spec.is_urgent;
    nsec_t idle = group->gpud->config->idle;

    if (group->spec.is_urgent)
        idle = MIN(idle, URGENT_IDLE);
    for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
        atomic_store(&group_line(group, gpu)->idle_ns, shares ? (uint64_t)idle : 0);
        atomic_store(&group_line(group, gpu)->is_shared, group->lease >= 0 && is_together(group));
    }
    set_backlog(group, backlog_at(group, pace));
    if (shares || !group->is_open)
        loop_timer_stop(&group->alone);
    else
        loop_timer_start(&group->alone, ALONE_AFTER);
}

/* What its sessions have not ended yet is waited for no longer. */
static void await_nobody(struct group *group)
{
    for (struct session *s = session_first(group); s; s = session_next(s)) {
        for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++)
            s->gpus[gpu].is_awaited = false;
    }
}

/* Lets in who waits, under a lease that begins or goes on. */
static void let_in(struct group *group)
{
    group->is_open = true;
    group->wants_more = false;
    set_pace(group);
    set_gates(group, GPU_GATE_OPEN);
}

static void open_gates(struct group *group)
{
    nsec_t waited = group->gpud->arbiter.groups[group->lease].waited;

    meters_wait(group, waited - group->waited_before);
    group->waited_before = waited;
    group->busy = 0;
    /* Who has not ended yet is waited for together with the rest of this lease, if it takes part in it. */
    await_nobody(group);
    let_in(group);
    for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
        struct device *device = &group->gpud->devices[group->devices[gpu]];

        group->first_word[gpu] = word_of(group, gpu);
        if (device->last_holder && device->last_holder != group && device->waited_for && !is_together(group))
            meters_handover(group->gpud, gpud_now() - device->closed_at);
        device->last_holder = group;
    }
    group->gpud->handovers++;
}

static struct group *group_of_lease(const struct gpud *gpud, uint32_t lease)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        if (gpud->groups[i] && gpud->groups[i]->lease == (int)lease)
            return gpud->groups[i];
    }
    return NULL;
}

/* Asks those who are active to end; says whether anybody is. */
static bool close_gates(struct group *group)
{
    int successor = arbiter_successor(&group->gpud->arbiter, (uint32_t)group->lease);
    struct group *next = successor >= 0 ? group_of_lease(group->gpud, (uint32_t)successor) : NULL;
    bool is_anybody = false;

    group->is_open = false;
    set_pace(group);
    set_gates(group, GPU_GATE_CLOSED);
    for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
        struct device *device = &group->gpud->devices[group->devices[gpu]];

        device->closed_at = gpud_now();
        device->waited_for = next != NULL;
    }
    for (struct session *s = session_first(group); s; s = session_next(s)) {
        for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
            if (!is_active(s, gpu))
                continue;
            uint32_t word = atomic_load(&session_line(s, gpu)->active_word);
            is_anybody = s->gpus[gpu].is_awaited = true;
            session_send(s, s->events, &(struct gpu_message){.type = GPU_DRAIN, .lease = {.gpu = gpu, .word = word}},
                         NULL, 0);
        }
    }
    for (uint32_t gpu = 0; is_anybody && next && gpu < next->spec.gpu_count; gpu++)
        gate_rouse(group_line(next, gpu));
    return is_anybody;
}

/* What the processes of a group have got done: they say so in their own pages. */
static void note_work(const struct group *group)
{
    uint64_t work = 0, launches = 0;

    if (group->lease < 0)
        return;
    for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
        work += group->gone[gpu].work_ns;
        launches += group->gone[gpu].launches;
        for (const struct session *s = session_first(group); s; s = session_next(s)) {
            work += s->page.mem ? atomic_load(&session_line(s, gpu)->work_ns) : 0;
            launches += s->page.mem ? atomic_load(&session_line(s, gpu)->launches) : 0;
        }
    }
    arbiter_note_work(&group->gpud->arbiter, (uint32_t)group->lease, work, launches);
}

static void note_all_work(const struct gpud *gpud)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        if (gpud->groups[i])
            note_work(gpud->groups[i]);
    }
}

static void set_timer(struct gpud *gpud)
{
    nsec_t at = arbiter_deadline(&gpud->arbiter);
    struct itimerspec when = {0};

    if (at == gpud->timer_at)
        return;
    gpud->timer_at = at;
    if (at != NSEC_MAX) {
        when.it_value.tv_sec = at / NSEC_PER_SEC;
        when.it_value.tv_nsec = at % NSEC_PER_SEC;
    }
    (void)timerfd_settime(gpud->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void give_up(struct group *group)
{
    struct gpud *gpud = group->gpud;

    log_warn(gpud->log, "kernels outlast their lease: other groups run at the same time",
             log_str("group", group->spec.name));
    for (struct session *s = session_first(group), *next; s; s = next) {
        next = session_next(s);
        for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
            if (!s->gpus[gpu].is_awaited)
                continue;
            session_notice(s, GPU_REASON_NOT_DRAINED, gpu,
                           "the lease has ended, and other groups run at the same time");
            if (gpud->config->stuck == ACTION_KILL) {
                session_kill(s, GPU_REASON_NOT_DRAINED, gpu, gpu_reason_text(GPU_REASON_NOT_DRAINED));
                break;
            }
        }
    }
}

static void act(struct gpud *gpud, const struct arbiter_action *action)
{
    struct group *group = group_of_lease(gpud, action->group);

    if (!group)
        return;
    switch (action->verb) {
    case ARBITER_OPEN:
        open_gates(group);
        break;
    case ARBITER_EXTEND:
        let_in(group);
        break;
    case ARBITER_CLOSE:
        if (!close_gates(group))
            arbiter_drained(&gpud->arbiter, action->group, group->busy, group->wants_more, gpud_now());
        break;
    case ARBITER_GIVE_UP:
        give_up(group);
        break;
    case ARBITER_PACE:
        set_pace(group);
        break;
    case ARBITER_NOTHING:
        break;
    }
}

void leases_run(struct gpud *gpud)
{
    struct arbiter_action action;

    while ((action = arbiter_next_action(&gpud->arbiter)).verb != ARBITER_NOTHING)
        act(gpud, &action);
    set_timer(gpud);
}

void leases_tick(void *arg)
{
    struct gpud *gpud = arg;
    uint64_t times;

    if (read(gpud->timer, &times, sizeof times) < 0)
        return;
    gpud->timer_at = NSEC_MAX;
    note_all_work(gpud);
    arbiter_tick(&gpud->arbiter, gpud_now());
    leases_run(gpud);
}

void leases_join(struct group *group)
{
    struct gpud *gpud = group->gpud;
    const struct group_spec *spec = &group->spec;
    uint16_t gpus = 0;

    group->lease = -1;
    group->waited_before = 0;
    if (spec->mode == GPU_MODE_TIME) {
        set_backlog(group, 0);
        set_gates(group, GPU_GATE_FREE);
        return;
    }
    for (uint32_t gpu = 0; gpu < spec->gpu_count; gpu++)
        gpus |= (uint16_t)(1u << group->devices[gpu]);
    loop_timer_init(&group->alone, gpud->loop, on_alone, group);
    group->lease = arbiter_add(&gpud->arbiter, gpus, spec->share, spec->cap, gpud_now());
    if (group->lease >= 0)
        arbiter_set_urgent(&gpud->arbiter, (uint32_t)group->lease, spec->is_urgent, gpud_now());
    set_pace(group);
    set_gates(group, group->lease < 0 ? GPU_GATE_FREE : GPU_GATE_CLOSED);
}

void leases_change(struct group *group)
{
    struct arbiter *arbiter = &group->gpud->arbiter;

    arbiter_set(arbiter, (uint32_t)group->lease, group->spec.share, group->spec.cap, gpud_now());
    arbiter_set_urgent(arbiter, (uint32_t)group->lease, group->spec.is_urgent, gpud_now());
    set_pace(group);
}

void leases_leave(struct group *group)
{
    loop_timer_done(&group->alone);
    group->alone = (struct loop_timer){0};
    if (group->lease < 0)
        return;
    /* Its last lease is over, whoever was to say so: the next one must not wait for that. */
    await_nobody(group);
    arbiter_remove(&group->gpud->arbiter, (uint32_t)group->lease, gpud_now());
    group->lease = -1;
    group->is_open = false;
    leases_run(group->gpud);
}

void leases_ask(struct session *session, const struct gpu_message *message)
{
    struct group *group = session->group;
    uint32_t gpu = message->lease.gpu;

    if (group->lease < 0)
        return;
    if (group->is_open) {
        /* It yielded this word and has work again, while others of its group go on: a new word lets it in. */
        if (message->lease.word == word_of(group, gpu))
            gate_set(group_line(group, gpu), GPU_GATE_OPEN);
        return;
    }
    group->wants_more = true;
    note_all_work(group->gpud);
    arbiter_ask(&group->gpud->arbiter, (uint32_t)group->lease, gpud_now());
    leases_run(group->gpud);
}

static void note_busy(struct group *group, const struct gpu_message *message)
{
    group->busy = MAX(group->busy, (nsec_t)message->lease.busy_ns);
}

/* Nobody of the group has anything to run: its lease ends, unless somebody began just now. */
static void end_if_idle(struct group *group)
{
    struct gpud *gpud = group->gpud;

    if (group->lease < 0 || !group->is_open || has_active(group))
        return;
    note_all_work(gpud);
    if (close_gates(group))
        arbiter_close(&gpud->arbiter, (uint32_t)group->lease, gpud_now());
    else
        arbiter_yield(&gpud->arbiter, (uint32_t)group->lease, group->busy, gpud_now());
    leases_run(gpud);
}

void leases_yield(struct session *session, const struct gpu_message *message)
{
    struct group *group = session->group;
    uint32_t gpu = message->lease.gpu;

    if (group->lease < 0 || !is_of_lease(group, gpu, message->lease.word))
        return;
    session->gpus[gpu].yielded_word = message->lease.word;
    note_busy(group, message);
    end_if_idle(group);
}

static void end_if_drained(struct group *group)
{
    struct gpud *gpud = group->gpud;

    if (group->lease < 0 || group->is_open || has_awaited(group))
        return;
    note_all_work(gpud);
    arbiter_drained(&gpud->arbiter, (uint32_t)group->lease, group->busy, group->wants_more, gpud_now());
    leases_run(gpud);
}

void leases_drained(struct session *session, const struct gpu_message *message)
{
    struct group *group = session->group;
    uint32_t gpu = message->lease.gpu;

    /* One of an earlier lease, that ended late, says nothing of this one. */
    if (!session->gpus[gpu].is_awaited || !is_of_lease(group, gpu, message->lease.word))
        return;
    session->gpus[gpu].is_awaited = false;
    session->gpus[gpu].yielded_word = message->lease.word;
    group->wants_more |= message->lease.flags & GPU_DRAINED_HAS_MORE;
    note_busy(group, message);
    /* The lease may have been extended meanwhile. */
    end_if_idle(group);
    end_if_drained(group);
}

void leases_forget(struct session *session)
{
    struct group *group = session->group;
    bool was_awaited = false;

    for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
        was_awaited |= session->gpus[gpu].is_awaited;
        session->gpus[gpu].is_awaited = false;
    }
    if (was_awaited)
        end_if_drained(group);
    else
        end_if_idle(group);
}
