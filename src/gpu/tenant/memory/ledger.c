/* SPDX-License-Identifier: Apache-2.0 */
/* The account on top of the daemon's protocol: credit first, a message when there is not enough. Memory that was taken
 * without leave (a pool that grew, a graph that ran) and could not be paid for is kept as a debt: it is paid before
 * anything else is granted, and what is released goes there first. */
#include "gpu/tenant/memory/ledger.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "gpu/tenant/link/client.h"

struct account {
    _Atomic uint64_t plain;    // reserved and not released
    _Atomic uint64_t context;  // the same for contexts
    _Atomic uint64_t debt;     // in use, not reserved
};

static struct account accounts[GPU_MAX];

static void holdings(int slot, uint64_t *ret_bytes, uint64_t *ret_context_bytes)
{
    *ret_context_bytes = atomic_load(&accounts[slot].context);
    *ret_bytes = atomic_load(&accounts[slot].plain) + *ret_context_bytes;
}

bool ledger_is_managed(void)
{
    return client_is_wanted();
}

/* The daemon has to be there once before anything can be said about GPUs. */
static bool is_ready(void)
{
    if (client_control(0))
        return true;
    client_set_holdings(holdings);
    return client_is_ready();
}

int ledger_slot_of(const unsigned char uuid[16])
{
    if (!is_ready())
        return LEDGER_UNKNOWN;
    for (int slot = 0; slot < client_gpu_count(); slot++) {
        if (memcmp(client_control(slot)->uuid, uuid, 16) == 0)
            return slot;
    }
    return -1;
}

static bool ask(int slot, enum ledger_kind kind, uint64_t bytes, uint64_t *ret_bytes)
{
    struct gpu_message request = {.type = GPU_RESERVE}, answer;
    request.memory.gpu = (uint32_t)slot;
    request.memory.kind = kind == LEDGER_CONTEXT ? GPU_KIND_CONTEXT : GPU_KIND_PLAIN;
    request.memory.bytes = bytes;
    if (!is_ready() || bytes > GPU_BYTES_MAX || !client_ask(&request, &answer) || answer.type != GPU_GRANT)
        return false;
    *ret_bytes = answer.memory.bytes;
    return true;
}

static bool take(int slot, enum ledger_kind kind, uint64_t bytes, uint64_t *ret_bytes)
{
    struct gpu_tenant_line *line = client_line(slot);
    *ret_bytes = bytes;
    if (kind == LEDGER_PLAIN && line && gpu_credit_take(line, bytes))
        return true;
    return ask(slot, kind, bytes, ret_bytes);
}

static bool pay_debt(int slot)
{
    uint64_t debt = atomic_exchange(&accounts[slot].debt, 0), paid;
    if (debt == 0)
        return true;
    if (take(slot, LEDGER_PLAIN, debt, &paid)) {
        atomic_fetch_add(&accounts[slot].plain, debt);
        return true;
    }
    atomic_fetch_add(&accounts[slot].debt, debt);
    return false;
}

bool ledger_reserve(int slot, enum ledger_kind kind, uint64_t bytes, uint64_t *ret_bytes)
{
    uint64_t taken;
    if (!pay_debt(slot) || !take(slot, kind, bytes, &taken))
        return false;
    atomic_fetch_add(kind == LEDGER_CONTEXT ? &accounts[slot].context : &accounts[slot].plain, taken);
    if (ret_bytes)
        *ret_bytes = taken;
    return true;
}

uint64_t ledger_force(int slot, uint64_t bytes)
{
    if (ledger_reserve(slot, LEDGER_PLAIN, bytes, NULL))
        return bytes;
    atomic_fetch_add(&accounts[slot].debt, bytes);
    return 0;
}

void ledger_take_over(int slot, uint64_t bytes)
{
    atomic_fetch_add(&accounts[slot].plain, bytes);
}

/* Part of `bytes` that pays back a debt. */
static uint64_t settle_debt(int slot, uint64_t bytes)
{
    uint64_t debt = atomic_load(&accounts[slot].debt), part;
    do {
        part = debt < bytes ? debt : bytes;
    } while (part > 0 && !atomic_compare_exchange_weak(&accounts[slot].debt, &debt, debt - part));
    return part;
}

static void give_back(int slot, enum ledger_kind kind, uint64_t bytes)
{
    struct gpu_message message = {.type = GPU_RELEASE};
    message.memory.gpu = (uint32_t)slot;
    message.memory.kind = kind == LEDGER_CONTEXT ? GPU_KIND_CONTEXT : GPU_KIND_PLAIN;
    message.memory.bytes = bytes;
    client_tell(&message);
}

void ledger_release(int slot, enum ledger_kind kind, uint64_t bytes)
{
    if (kind == LEDGER_CONTEXT) {
        atomic_fetch_sub(&accounts[slot].context, bytes);
        give_back(slot, kind, bytes);
        return;
    }
    bytes -= settle_debt(slot, bytes);
    atomic_fetch_sub(&accounts[slot].plain, bytes);
    struct gpu_tenant_line *line = client_line(slot);
    const struct gpu_control_line *control = client_control(slot);
    if (!line || !control || bytes == 0)
        return;
    gpu_credit_give(line, bytes);
    /* While others need memory that this group has borrowed, nothing is kept for later. */
    bool has_to_trim = atomic_load_explicit(&control->trim_bytes, memory_order_relaxed) > 0;
    uint64_t most = has_to_trim ? 0 : atomic_load_explicit(&control->credit_max_bytes, memory_order_relaxed);
    uint64_t credit = atomic_load(&line->credit_bytes);
    if (credit > most && gpu_credit_take(line, credit - most / 2))
        give_back(slot, kind, credit - most / 2);
}

bool ledger_look(int slot, struct ledger_view *ret_view)
{
    struct gpu_message query = {.type = GPU_QUERY}, answer;
    query.memory.gpu = (uint32_t)slot;
    if (!is_ready())
        return false;
    if (client_ask(&query, &answer) && answer.type == GPU_INFO) {
        *ret_view = (struct ledger_view){.total = answer.memory.total_bytes, .free = answer.memory.free_bytes};
    } else {
        struct gpu_tenant_line *line = client_line(slot);
        uint64_t credit = line ? atomic_load(&line->credit_bytes) : 0;
        uint64_t limit = atomic_load(&client_control(slot)->limit_bytes);
        *ret_view = (struct ledger_view){.total = limit, .free = credit};
    }
    uint64_t debt = atomic_load(&accounts[slot].debt);
    ret_view->free -= debt < ret_view->free ? debt : ret_view->free;
    return true;
}

uint64_t ledger_used(int slot)
{
    return atomic_load(&accounts[slot].plain) + atomic_load(&accounts[slot].context) +
           atomic_load(&accounts[slot].debt);
}

void ledger_note_growth(int slot)
{
    enum { APART_NS = 100000000 };
    static _Atomic int64_t last_ns;
    struct gpu_message message = {.type = GPU_GREW};
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, before = atomic_load(&last_ns);
    if (slot < 0 || (before != 0 && now_ns - before < APART_NS) ||
        !atomic_compare_exchange_strong(&last_ns, &before, now_ns))
        return;
    message.memory.gpu = (uint32_t)slot;
    client_tell(&message);
}

void ledger_note_unhooked(const char *name)
{
    struct gpu_message message = {.type = GPU_UNHOOKED};
    if (!is_ready())
        return;
    memccpy(message.notice.text, name, 0, sizeof message.notice.text - 1);
    client_tell(&message);
}

void ledger_forget(void)
{
    client_forget();
    memset(accounts, 0, sizeof accounts);
}
