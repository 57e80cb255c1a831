/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "services/scheduler/keys.h"

struct decision;
struct eviction;
struct placement;
struct scheduler;

/*
 * Carrying decisions out: binds straight away where nothing has to be done before, by a BindRequest otherwise; evictions
 * by deleting the pod. What fails is undone in the state and decided anew.
 */

/* The engine has put the pod on its node; `text` is that of its Scheduled event. */
void carry_bind(struct scheduler *s, const struct decision *decision, const char *text);

/* The engine has the pod leave; `text` is that of its gang's Evict event. `count` pods of its gang leave in this cycle. */
void carry_evict(struct scheduler *s, const struct decision *decision, const char *text, size_t count);

/* Shared GPUs that decisions opened get their names. */
void carry_name_groups(struct scheduler *s, const struct decision *decisions, size_t count);

/* Our eviction of the pod, NULL when there is none; and the cluster shows it, or the pod is gone. */
struct eviction *carry_eviction(const struct scheduler *s, object_key key);
void carry_eviction_seen(struct scheduler *s, struct eviction *eviction);

/* Deletes BindRequests that failed, or whose node is gone. */
void carry_delete_stale(struct scheduler *s);

/* Nothing is under way. */
bool carry_is_idle(const struct scheduler *s);
void carry_done(struct scheduler *s);
