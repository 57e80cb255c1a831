/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What tenants ask of the ledger. An answer that denies is believed only after all unused credit that could help has been
 * taken back out of the tenants' pages, which costs no message. Who is within its request and finds that others have
 * borrowed its memory waits (reclaim.c).
 */
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
    session->gpus[gpu].plain_most = MAX(session->gpus[gpu].plain_most, holding->plain);
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

/* Nobody borrows more while somebody waits for what is lent already. */
static bool may_borrow(const struct session *session, uint32_t gpu, uint64_t bytes)
{
    const struct group *group = session->group;
    const struct gpud *gpud = group->gpud;
    const struct ledger_group *account = &gpud->ledger.groups[group->index];
    uint32_t device = group->devices[gpu];
    uint64_t used = account->taken[device] - MIN(memory_credit(group, gpu), account->taken[device]);

    return used + bytes <= account->request[device] || !reclaim_is_owed(gpud, group, device);
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

    enum ledger_answer answer = LEDGER_EXHAUSTED;
    if (may_borrow(session, gpu, bytes))
        answer = reserve(session, gpu, kind, bytes);
    switch (answer) {
    case LEDGER_GRANTED:
        if (kind == GPU_KIND_PLAIN)
            add_credit(session, gpu);
        grant(session, message->sequence, gpu, kind, bytes);
        break;
    case LEDGER_OWED:
        reclaim_wait(session, message, bytes);
        break;
    case LEDGER_OVER_LIMIT:
        deny(session, message->sequence, gpu, kind, bytes, GPU_REASON_LIMIT);
        break;
    case LEDGER_EXHAUSTED:
        if (reclaim_may_come(session, gpu)) {
            reclaim_wait_for_loan(session, message, bytes);
            break;
        }
        deny(session, message->sequence, gpu, kind, bytes, GPU_REASON_EXHAUSTED);
        break;
    }
}

void memory_retry(struct gpud *gpud)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        for (struct session *s = gpud->groups[i] ? session_first(gpud->groups[i]) : NULL; s; s = session_next(s)) {
            struct pending pending = s->pending;

            if (!pending.is_used ||
                (pending.is_loan && reclaim_is_owed(gpud, s->group, s->group->devices[pending.gpu])) ||
                reserve(s, pending.gpu, pending.kind, pending.bytes) != LEDGER_GRANTED)
                continue;
            reclaim_end(s);
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

void memory_refuse(struct session *session, const struct pending *pending)
{
    deny(session, pending->sequence, pending->gpu, pending->kind, pending->bytes, GPU_REASON_EXHAUSTED);
}

void memory_forget(struct session *session)
{
    struct group *group = session->group;
    struct ledger *ledger = &group->gpud->ledger;

    reclaim_end(session);
    for (uint32_t gpu = 0; session->slot && gpu < group->spec.gpu_count; gpu++) {
        struct ledger_holding *holding = session_holding(session, gpu);

        (void)ledger_release(ledger, group->index, holding, group->devices[gpu], GPU_KIND_PLAIN, GPU_BYTES_MAX);
        (void)ledger_release(ledger, group->index, holding, group->devices[gpu], GPU_KIND_CONTEXT, GPU_BYTES_MAX);
    }
}
