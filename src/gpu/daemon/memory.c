/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What tenants ask of the ledger. An answer that denies is believed only after all unused credit that could help has been
 * taken back out of the tenants' pages, which costs no message. Who is within its request and finds that others have
 * borrowed its memory waits: the borrowers are told to give back, and after a time the configuration says what happens.
 */
#include <signal.h>
#include <stdio.h>

#include "base/log.h"
#include "gpu/daemon/gpud_parts.h"

struct gpu_tenant_line *session_line(const struct session *session, uint32_t gpu)
{
    return &((struct gpu_tenant_page *)session->page.mem)->gpus[gpu];
}

struct ledger_holding *session_holding(const struct session *session, uint32_t gpu)
{
    return &session->slot->holdings[session->group->devices[gpu]];
}

static bool has_gpu(struct session *session, const struct gpu_message *message)
{
    return message->memory.gpu < session->group->spec.gpu_count;
}

static void answer(struct session *session, const struct gpu_message *message)
{
    session_send(session, session->fd, message, NULL, 0);
}

static void grant(struct session *session, uint32_t sequence, uint32_t gpu, enum gpu_memory_kind kind, uint64_t bytes)
{
    answer(session, &(struct gpu_message){
                        .type = GPU_GRANT, .sequence = sequence, .memory = {.gpu = gpu, .kind = kind, .bytes = bytes}});
}

/* The unused credit of a group's processes on one of its GPUs. What a page says is believed up to what was granted. */
uint64_t memory_credit(const struct group *group, uint32_t gpu)
{
    uint64_t sum = 0;

    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        if (s->page.mem && s->slot)
            sum += MIN(atomic_load(&session_line(s, gpu)->credit_bytes), session_holding(s, gpu)->plain);
    }
    return sum;
}

uint64_t memory_free_for(const struct group *group, uint32_t gpu)
{
    const struct gpud *gpud = group->gpud;
    uint64_t all = 0;

    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        int at = gpud->groups[i] ? group_gpu(gpud->groups[i], group->devices[gpu]) : -1;

        if (at >= 0)
            all += memory_credit(gpud->groups[i], (uint32_t)at);
    }
    return ledger_free(&gpud->ledger, group->index, group->devices[gpu], memory_credit(group, gpu), all);
}

static void deny(struct session *session, uint32_t sequence, uint32_t gpu, enum gpu_memory_kind kind, uint64_t bytes,
                 enum gpu_reason reason)
{
    struct group *group = session->group;

    group->denied[reason]++;
    answer(session, &(struct gpu_message){
                        .type = GPU_DENY,
                        .sequence = sequence,
                        .memory = {.gpu = gpu,
                                   .kind = kind,
                                   .reason = reason,
                                   .bytes = bytes,
                                   .free_bytes = reason == GPU_REASON_NO_GPU ? 0 : memory_free_for(group, gpu)}});
}

/* Takes all credit out of a process's page. */
static uint64_t take_credit(struct session *session, uint32_t gpu)
{
    uint64_t credit = session->page.mem ? atomic_exchange(&session_line(session, gpu)->credit_bytes, 0) : 0;

    return ledger_release(&session->group->gpud->ledger, session->group->index, session_holding(session, gpu),
                          session->group->devices[gpu], GPU_KIND_PLAIN, credit);
}

/* Of one group, or of all that have the GPU. Says whether there was any. */
static bool take_credits(struct gpud *gpud, const struct group *only, uint32_t device)
{
    uint64_t taken = 0;

    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        struct group *group = gpud->groups[i];
        int gpu = group && (!only || group == only) ? group_gpu(group, device) : -1;

        for (struct session *s = gpu >= 0 ? session_first(group) : NULL; s; s = session_next(s)) {
            if (s->slot)
                taken += take_credit(s, (uint32_t)gpu);
        }
    }
    return taken > 0;
}

static enum ledger_answer reserve(struct session *session, uint32_t gpu, enum gpu_memory_kind kind, uint64_t bytes)
{
    struct group *group = session->group;
    struct gpud *gpud = group->gpud;
    uint32_t device = group->devices[gpu];
    struct ledger_holding *holding = session_holding(session, gpu);
    enum ledger_answer r = ledger_reserve(&gpud->ledger, group->index, holding, device, kind, bytes);

    if (r == LEDGER_OVER_LIMIT && take_credits(gpud, group, device))
        r = ledger_reserve(&gpud->ledger, group->index, holding, device, kind, bytes);
    if ((r == LEDGER_EXHAUSTED || r == LEDGER_OWED) && take_credits(gpud, NULL, device))
        r = ledger_reserve(&gpud->ledger, group->index, holding, device, kind, bytes);
    return r;
}

/* More than was asked for, so that the next allocations need no message. */
static void add_credit(struct session *session, uint32_t gpu)
{
    struct group *group = session->group;
    struct gpud *gpud = group->gpud;
    uint32_t device = group->devices[gpu];
    uint64_t chunk = ledger_credit(&gpud->ledger, group->index, device, gpud->config->credit_bytes);

    if (chunk == 0 || atomic_load(&session_line(session, gpu)->credit_bytes) > 0)
        return;
    if (ledger_reserve(&gpud->ledger, group->index, session_holding(session, gpu), device, GPU_KIND_PLAIN, chunk) ==
        LEDGER_GRANTED)
        gpu_credit_give(session_line(session, gpu), chunk);
}

/* The group that has borrowed most in relation to its request, and has processes. */
static struct group *worst_borrower(const struct gpud *gpud, uint32_t device, const struct group *owner)
{
    struct group *worst = NULL;
    double most = 0;

    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        struct group *group = gpud->groups[i];

        if (!group || group == owner || group->sessions.len == 0)
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
        for (struct session *s = session_first(group); s; s = session_next(s)) {
            if (s->events >= 0)
                session_send(s, s->events, &trim, NULL, 0);
        }
    }
}

static void clear_trim(struct gpud *gpud, uint32_t device)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        int gpu = gpud->groups[i] ? group_gpu(gpud->groups[i], device) : -1;

        if (gpu >= 0)
            atomic_store(&group_line(gpud->groups[i], (uint32_t)gpu)->trim_bytes, 0);
    }
}

static void end_pending(struct session *session)
{
    loop_timer_done(&session->pending.timer);
    patience_note(&session->patience, session->pending.since, gpud_now());
    clear_trim(session->group->gpud, session->group->devices[session->pending.gpu]);
    session->pending = (struct pending){0};
}

static struct session *youngest(const struct group *group)
{
    struct session *found = NULL;

    for (struct session *s = session_first(group); s; s = session_next(s)) {
        if (s->slot && (!found || s->since > found->since))
            found = s;
    }
    return found;
}

/* The borrowers have had their time. */
static void on_deadline(void *arg)
{
    struct session *session = arg;
    struct group *group = session->group;
    struct gpud *gpud = group->gpud;
    struct pending pending = session->pending;
    struct group *worst = worst_borrower(gpud, group->devices[pending.gpu], group);
    struct session *victim = worst && gpud->config->reclaim_action == ACTION_KILL ? youngest(worst) : NULL;

    if (victim) {
        if (!victim->is_killed)
            log_warn(gpud->log, "killing a process to reclaim memory for its owner", log_str("group", worst->spec.name),
                     log_int("pid", victim->peer.pid), log_str("owner", group->spec.name));
        session_kill(victim, GPU_REASON_EXHAUSTED, pending.gpu);
        /* Its memory comes back when it has ended; if it is not enough there is a next one. */
        loop_timer_start(&session->pending.timer, 100 * NSEC_PER_MSEC);
        return;
    }
    end_pending(session);
    deny(session, pending.sequence, pending.gpu, pending.kind, pending.bytes, GPU_REASON_EXHAUSTED);
}

static void wait_for_borrowers(struct session *session, const struct gpu_message *message, uint64_t bytes)
{
    struct group *group = session->group;
    struct gpud *gpud = group->gpud;

    session->pending = (struct pending){.is_used = true,
                                        .sequence = message->sequence,
                                        .gpu = message->memory.gpu,
                                        .kind = (enum gpu_memory_kind)message->memory.kind,
                                        .bytes = bytes,
                                        .since = gpud_now()};
    loop_timer_init(&session->pending.timer, gpud->loop, on_deadline, session);
    loop_timer_start(&session->pending.timer,
                     patience_left(&session->patience, gpud->config->reclaim_deadline, session->pending.since));
    ask_borrowers(gpud, group->devices[message->memory.gpu], group, bytes);
}

void memory_reserve(struct session *session, const struct gpu_message *message)
{
    uint32_t gpu = message->memory.gpu;
    enum gpu_memory_kind kind = (enum gpu_memory_kind)message->memory.kind;
    uint64_t bytes = message->memory.bytes;

    if (!has_gpu(session, message)) {
        deny(session, message->sequence, gpu, kind, bytes, GPU_REASON_NO_GPU);
        return;
    }
    if (session->pending.is_used) {
        deny(session, message->sequence, gpu, kind, bytes, GPU_REASON_EXHAUSTED);
        return;
    }
    if (kind == GPU_KIND_CONTEXT && bytes == 0)
        bytes = session->group->gpud->devices[session->group->devices[gpu]].context_bytes;
    switch (reserve(session, gpu, kind, bytes)) {
    case LEDGER_GRANTED:
        if (kind == GPU_KIND_PLAIN)
            add_credit(session, gpu);
        grant(session, message->sequence, gpu, kind, bytes);
        break;
    case LEDGER_OWED:
        wait_for_borrowers(session, message, bytes);
        break;
    case LEDGER_OVER_LIMIT:
        deny(session, message->sequence, gpu, kind, bytes, GPU_REASON_LIMIT);
        break;
    case LEDGER_EXHAUSTED:
        deny(session, message->sequence, gpu, kind, bytes, GPU_REASON_EXHAUSTED);
        break;
    }
}

void memory_retry(struct gpud *gpud)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        for (struct session *s = gpud->groups[i] ? session_first(gpud->groups[i]) : NULL; s; s = session_next(s)) {
            struct pending pending = s->pending;

            if (!pending.is_used || reserve(s, pending.gpu, pending.kind, pending.bytes) != LEDGER_GRANTED)
                continue;
            end_pending(s);
            grant(s, pending.sequence, pending.gpu, pending.kind, pending.bytes);
        }
    }
}

void memory_release(struct session *session, const struct gpu_message *message)
{
    struct group *group = session->group;

    if (!has_gpu(session, message))
        return;
    (void)ledger_release(&group->gpud->ledger, group->index, session_holding(session, message->memory.gpu),
                         group->devices[message->memory.gpu], (enum gpu_memory_kind)message->memory.kind,
                         message->memory.bytes);
    memory_retry(group->gpud);
}

bool memory_take(struct session *session, uint32_t gpu, uint64_t bytes)
{
    return reserve(session, gpu, GPU_KIND_PLAIN, bytes) == LEDGER_GRANTED;
}

void memory_give(struct session *session, uint32_t gpu, uint64_t bytes)
{
    struct group *group = session->group;

    (void)ledger_release(&group->gpud->ledger, group->index, session_holding(session, gpu), group->devices[gpu],
                         GPU_KIND_PLAIN, bytes);
    memory_retry(group->gpud);
}

void memory_take_back(struct session *session)
{
    for (uint32_t gpu = 0; session->slot && gpu < session->group->spec.gpu_count; gpu++)
        (void)take_credit(session, gpu);
    memory_retry(session->group->gpud);
}

/* A process comes back and says what it has in use: that is what it holds from now on. More than the limit is not
 * believed; NVML will tell. */
void memory_attach(struct session *session, const struct gpu_message *message)
{
    struct group *group = session->group;
    struct ledger *ledger = &group->gpud->ledger;
    uint32_t gpu = message->memory.gpu;
    uint64_t bit = UINT64_C(1) << gpu;

    if (!has_gpu(session, message) || !session->may_attach || (session->attached & bit) ||
        message->memory.context_bytes > message->memory.bytes) {
        deny(session, message->sequence, MIN(gpu, group->spec.gpu_count - 1), GPU_KIND_PLAIN, message->memory.bytes,
             GPU_REASON_PEER);
        return;
    }
    uint32_t device = group->devices[gpu];
    struct ledger_holding *holding = session_holding(session, gpu);
    session->attached |= bit;
    (void)ledger_release(ledger, group->index, holding, device, GPU_KIND_PLAIN, GPU_BYTES_MAX);
    (void)ledger_release(ledger, group->index, holding, device, GPU_KIND_CONTEXT, GPU_BYTES_MAX);
    uint64_t room = ledger->groups[group->index].limit[device];
    room -= MIN(room, ledger->groups[group->index].taken[device]);
    if (message->memory.bytes > room) {
        ledger_force(ledger, group->index, holding, device, GPU_KIND_PLAIN, room);
        deny(session, message->sequence, gpu, GPU_KIND_PLAIN, message->memory.bytes, GPU_REASON_LIMIT);
        return;
    }
    ledger_force(ledger, group->index, holding, device, GPU_KIND_CONTEXT, message->memory.context_bytes);
    ledger_force(ledger, group->index, holding, device, GPU_KIND_PLAIN,
                 message->memory.bytes - message->memory.context_bytes);
    grant(session, message->sequence, gpu, GPU_KIND_PLAIN, message->memory.bytes);
    memory_retry(group->gpud);
}

void memory_query(struct session *session, const struct gpu_message *message)
{
    struct group *group = session->group;

    if (!has_gpu(session, message)) {
        deny(session, message->sequence, message->memory.gpu, GPU_KIND_PLAIN, 0, GPU_REASON_NO_GPU);
        return;
    }
    answer(session, &(struct gpu_message){.type = GPU_INFO,
                                          .sequence = message->sequence,
                                          .memory = {.gpu = message->memory.gpu,
                                                     .free_bytes = memory_free_for(group, message->memory.gpu),
                                                     .total_bytes = group->spec.limit_bytes}});
}

void memory_give_up(struct session *session)
{
    if (session->pending.is_used)
        end_pending(session);
}

void memory_forget(struct session *session)
{
    struct group *group = session->group;
    struct ledger *ledger = &group->gpud->ledger;

    memory_give_up(session);
    for (uint32_t gpu = 0; session->slot && gpu < group->spec.gpu_count; gpu++) {
        struct ledger_holding *holding = session_holding(session, gpu);

        (void)ledger_release(ledger, group->index, holding, group->devices[gpu], GPU_KIND_PLAIN, GPU_BYTES_MAX);
        (void)ledger_release(ledger, group->index, holding, group->devices[gpu], GPU_KIND_CONTEXT, GPU_BYTES_MAX);
    }
}
