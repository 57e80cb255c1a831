/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gpu/protocol/message.h"

/*
 * Who has how much memory of which GPU, to the byte. Pure book-keeping: nothing here talks to a GPU or to a tenant.
 *
 * A group has a request, which is kept for it, and a limit, up to which it may borrow what nobody uses. What a process
 * has been granted, used or not, is its holding; unused credit in it can be taken back at any time (gpu/protocol/message.h),
 * and the caller does so before it believes an answer that denies.
 */
enum { LEDGER_GPUS_MAX = 16, LEDGER_GROUPS_MAX = 256 };

/* What one process holds on one GPU. */
struct ledger_holding {
    uint64_t plain;
    uint64_t context;
};

struct ledger_group {
    bool is_used;
    uint64_t request[LEDGER_GPUS_MAX];  // 0 and 0: the group has no such GPU
    uint64_t limit[LEDGER_GPUS_MAX];
    uint64_t taken[LEDGER_GPUS_MAX];  // the sum of its holdings
};

struct ledger {
    uint64_t capacity[LEDGER_GPUS_MAX];
    uint64_t requested[LEDGER_GPUS_MAX];  // the sum of the requests
    uint64_t taken[LEDGER_GPUS_MAX];
    struct ledger_group groups[LEDGER_GROUPS_MAX];
};

enum ledger_answer {
    LEDGER_GRANTED,
    LEDGER_OVER_LIMIT,  // the group's own limit
    LEDGER_EXHAUSTED,   // a loan, and nothing is free
    LEDGER_OWED,        // within its request, but others have borrowed it: has to be taken back from them
};

void ledger_init(struct ledger *l);

/*
 * Adds a group, or changes the amounts of one. Refused (false) when the requests on a GPU would be more than it has;
 * `*ret_gpu` is that GPU then. Amounts below what is taken are allowed: the group gets nothing new until it fits.
 */
bool ledger_set_group(struct ledger *l, uint32_t group, const uint64_t request[static LEDGER_GPUS_MAX],
                      const uint64_t limit[static LEDGER_GPUS_MAX], uint32_t *ret_gpu);

/* Its processes hold nothing any more. */
void ledger_remove_group(struct ledger *l, uint32_t group);

enum ledger_answer ledger_reserve(struct ledger *l, uint32_t group, struct ledger_holding *holding, uint32_t gpu,
                                  enum gpu_memory_kind kind, uint64_t bytes);

/* The same without asking: for what is in use already, whatever the limits say. */
void ledger_force(struct ledger *l, uint32_t group, struct ledger_holding *holding, uint32_t gpu,
                  enum gpu_memory_kind kind, uint64_t bytes);

/* Gives back at most what is held of that kind; returns how much that was. */
uint64_t ledger_release(struct ledger *l, uint32_t group, struct ledger_holding *holding, uint32_t gpu,
                        enum gpu_memory_kind kind, uint64_t bytes);

/*
 * How much of extra credit may go with a grant: at most `chunk`, and nothing beyond the group's request or an eighth of
 * what is left of it, so that several processes of a group do not fill it with what none of them uses.
 */
uint64_t ledger_credit(const struct ledger *l, uint32_t group, uint32_t gpu, uint64_t chunk);

/* What the group would be granted now, when the unused credit of its own processes and that of all is so much. */
uint64_t ledger_free(const struct ledger *l, uint32_t group, uint32_t gpu, uint64_t own_credit, uint64_t all_credit);

/* How much the group holds beyond its request. */
uint64_t ledger_borrowed(const struct ledger *l, uint32_t group, uint32_t gpu);
