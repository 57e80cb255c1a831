/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "engine/verdict.h"
#include "model/ids.h"
#include "model/resources.h"

struct engine;
struct gang;
struct queue;

/* Divides what the cluster has among the queues, level by level, into engine->shares. */
void shares_divide(struct engine *engine);

/* What the queue may have without taking from others: its quota or its fair share, within its limit. May be unlimited. */
double share_allocatable(const struct engine *engine, queue_id queue, int resource);

/* What the queue holds now, simulated changes included, as doubles. */
void share_allocated(const struct engine *engine, queue_id queue, double ret[SHARE_COUNT]);
void share_allocated_fixed(const struct engine *engine, queue_id queue, double ret[SHARE_COUNT]);

/* Is a <= b, with unlimited above everything? */
bool share_le(double a, double b);

/* held + asked <= deserved in every resource. */
bool share_stays_deserved(const struct queue *queue, const double held[SHARE_COUNT], const double asked[SHARE_COUNT]);

/*
 * May the gang's queue and those above take on `asked`? Limits for everyone, quotas for work that cannot be preempted.
 * Where not, the record says which queue, which resource and the numbers (`ret` may be NULL).
 */
bool capacity_allows(const struct engine *engine, const struct gang *gang, const double asked[SHARE_COUNT],
                     struct verdict *ret);

/* The quota part alone. */
bool capacity_allows_fixed(const struct engine *engine, const struct gang *gang, const double asked[SHARE_COUNT],
                           struct verdict *ret);

/*
 * Two leaves seen from their deepest common ancestor: the first pair of different queues on the ways down to them, or the
 * last pair when one way ends first.
 */
void share_level(const struct engine *engine, queue_id a, queue_id b, queue_id *ret_a, queue_id *ret_b);
