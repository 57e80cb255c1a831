/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "base/intern.h"
#include "base/time.h"
#include "base/vec.h"
#include "engine/verdict.h"

struct emit;
struct table_view;

/*
 * Waiting time summed over queues and reasons. What is added up is whole nanoseconds, so that the reasons of a queue add up
 * to its whole wait, and the queues to that of all.
 */
struct wait_sum {
    uint32_t workloads;                         // that waited
    uint32_t workloads_for[_VERDICT_CODE_MAX];  // for this reason
    nsec_t time[_VERDICT_CODE_MAX];
};

struct wait_sums {
    struct intern queues;  // names, by index in `by_queue`
    VEC(struct wait_sum) by_queue;
    struct wait_sum all;
};

void wait_sums_init(struct wait_sums *sums);
void wait_sums_done(struct wait_sums *sums);

/* Adds one workload, with its time for each reason. `queue` is copied; "" when it has none. */
void wait_sums_add(struct wait_sums *sums, const char *queue, const nsec_t time[static _VERDICT_CODE_MAX]);

nsec_t wait_sum_total(const struct wait_sum *sum);

/* Reasons that anyone waited for, those waited for longest first. Returns how many there are. */
uint32_t wait_sum_order(const struct wait_sum *sum, enum verdict_code order[static _VERDICT_CODE_MAX]);

/* A table for people, queues that waited longest first, and the member "waits" for programs: a row for each queue and
 * reason. */
void wait_sums_print(const struct wait_sums *sums, const struct table_view *view, FILE *out);
void wait_sums_write(struct emit *e, const struct wait_sums *sums);

/*
 * "2h 10m 5s": to the second, so that what adds up can be seen to. To print parts of a whole, round the sum up to each of
 * them: wait_seconds(a) and wait_seconds(a + b) - wait_seconds(a). Returns `text`.
 */
enum { WAIT_TEXT_MAX = 48 };
int64_t wait_seconds(nsec_t time);
const char *wait_text(int64_t seconds, char text[static WAIT_TEXT_MAX]);
