/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/time.h"
#include "model/ids.h"

struct engine;
struct search;
struct validation;

/* The action's rules on who was really evicted, asked while the statement holds the plan. */
struct validation *validation_new(void);
void validation_free(struct validation *validation);

/* Keeps the queues' books as they are before the search; for validate_reclaim. */
void validate_remember_queues(struct search *search);

bool validate_consolidation(const struct search *search);
bool validate_reclaim(struct search *search);
bool validate_min_runtime(struct search *search);

/* How long a gang of the queue runs before it may be evicted for one of its own queue, or of queue `mine`. */
nsec_t preempt_min_runtime(const struct engine *engine, queue_id victim);
nsec_t reclaim_min_runtime(const struct engine *engine, queue_id mine, queue_id victim);
