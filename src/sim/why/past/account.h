/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "engine/verdict.h"

struct emit;
struct err;
struct table_view;

/*
 * How the workloads of a journal waited: who waited when, and for which reason. A workload waits while its minimum does not
 * run, after an eviction as well as before its first start. The reason is the verdict that the latest cycle left, and
 * VERDICT_NONE before the first one.
 *
 * The spans of a workload do not overlap, and leave out nothing but the time in which it ran: they add up to its whole wait.
 * Times are those of cycles, except for that of the submission.
 */
struct account_span {
    uint32_t next;  // of the same workload, NO_ID at the end
    enum verdict_code code;
    nsec_t from;
    nsec_t until;
};

enum account_state { ACCOUNT_PENDING, ACCOUNT_RUNNING, ACCOUNT_ENDED };

struct account_workload {
    const char *namespace;
    const char *name;   // of the gang
    const char *label;  // "namespace/name", as its author named it
    const char *queue;  // the last one it was in
    nsec_t submitted;
    nsec_t first_start;  // that the journal saw, 0: none
    nsec_t ended;        // the cycle that no longer found it, 0: none
    uint32_t starts;     // that the journal saw
    uint32_t evictions;  // cycles that evicted pods of it, also those that left it its minimum
    bool is_older;       // was there before the journal begins: what it waited before that is not known
    enum account_state state;
    uint32_t first_span;  // NO_ID: it never waited
    uint32_t last_span;
};

struct account {
    VEC(struct account_workload) workloads;  // in the order in which they came
    VEC(struct account_span) spans;
    uint64_t cycles;
    nsec_t first;  // times of the first and the last cycle
    nsec_t last;
    struct arena arena;
};

void account_init(struct account *account);
void account_done(struct account *account);

/* Reads the cycles of a journal up to `until` into an empty account. Those that still wait have waited up to the last of
 * these cycles. Fails as replay_run does, and with -ENOENT when there is no cycle. */
MUST_CHECK int account_read(struct account *account, const char *path, nsec_t until, struct err *err);

/*
 * The workload called so, "name" or "namespace/name", as its author named it or as its PodGroup is named; of several that
 * had the name one after the other, the last. Fails with -EINVAL when several namespaces have one, and with -ENOENT.
 */
MUST_CHECK int account_find_workload(const struct account *account, const char *workload, uint32_t *ret_index,
                                     struct err *err);

/* How long it waited for each reason. */
void account_waits(const struct account *account, uint32_t index, nsec_t ret_time[static _VERDICT_CODE_MAX]);

/* "Pending", "Running", "Ended" */
const char *account_state_name(enum account_state state);

/* One workload: its times, its wait by reasons, and its spans. */
void account_print(const struct account *account, uint32_t index, const struct table_view *view, FILE *out);

/* All workloads: waits by queues and reasons. */
void account_print_all(const struct account *account, const struct table_view *view, FILE *out);

/* The same for programs, as JSON: an object, which in account_write_all holds every workload. */
void account_write(struct emit *e, const char *key, const struct account *account, uint32_t index);
void account_write_all(struct emit *e, const struct account *account);
