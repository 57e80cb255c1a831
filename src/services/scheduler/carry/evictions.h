/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "services/scheduler/keys.h"

struct decision;
struct kube_client;
struct log;
struct observers;
struct pace;
struct pod_notes;
struct report;
struct setbacks;
struct setup;
struct state;

/*
 * Pods that the engine has leave. Each is deleted by the API server; until the cluster shows it leaving, or gone, the state
 * has it as one that is. An eviction that fails is undone there, and decided anew after a while.
 */
struct evictions;

/* What evictions work with; all borrowed. */
struct evictions_options {
    struct state *state;
    const struct setup *setup;
    struct kube_client *client;
    struct pod_notes *notes;
    struct setbacks *setbacks;
    struct report *report;
    struct observers *observers;
    struct pace *pace;
    struct log *log;
};

struct evictions *evictions_new(const struct evictions_options *options);
void evictions_free(struct evictions *evictions);

/* The engine has the pod leave; `text` is that of its gang's Evict event. `count` pods of its gang leave in this cycle. */
void evictions_start(struct evictions *evictions, const struct decision *decision, const char *text, size_t count);

/*
 * The pod was read anew, or is gone. While its object does not show that it was asked to leave, it is leaving all the same;
 * once it does, the eviction is over.
 */
void evictions_lay_over(struct evictions *evictions, object_key pod);

/* Those that have not been sent are undone in the state: the next cycle decides them again. */
void evictions_take_back_unsent(struct evictions *evictions);

/* No request of theirs is under way. */
bool evictions_are_idle(const struct evictions *evictions);

/* Those that the cluster does not show yet. */
size_t evictions_len(const struct evictions *evictions);
