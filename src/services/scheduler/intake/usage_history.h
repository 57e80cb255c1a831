/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/time.h"
#include "model/resources.h"

struct kube_client;
struct log;
struct loop;
struct pace;
struct state;
struct usage_samples;
struct usage_setting;

/*
 * Past use that the scheduler records itself, for clusters without Prometheus: at every multiple of the resolution it notes
 * what each queue has and what the nodes have (daybook.h). The record lies in a ConfigMap, written every few minutes and at
 * the end, so that another scheduler goes on with it. Only a scheduler that leads reads, notes and writes.
 */
struct usage_history;

struct usage_history_options {
    const struct usage_setting *settings;
    struct loop *loop;
    struct log *log;
    struct kube_client *client;
    const struct pace *pace;
    const char *namespace;  // of the ConfigMap
    const char *scheduler;  // that the record is of; the ConfigMap is "usage-<scheduler>"
    bool is_silent;         // nothing is written
};

struct usage_history *usage_history_new(const struct usage_history_options *options);
void usage_history_free(struct usage_history *history);
void usage_history_set_state(struct usage_history *history, const struct state *state);

/* What queues had and what there was over the window: SHARE_COUNT of each. False: the record has not been read yet; it is then. */
bool usage_history_sum(struct usage_history *history, nsec_t now, nsec_t range, struct usage_samples *ret_queues,
                       struct usage_samples *ret_whole);

/* Notes no more, and writes what is not written yet. */
void usage_history_stop(struct usage_history *history);

/* Nothing is being written. */
bool usage_history_is_idle(const struct usage_history *history);
