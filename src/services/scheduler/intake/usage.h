/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

struct err;
struct kube_client;
struct log;
struct loop;
struct observers;
struct pace;
struct state;
struct usage_setting;

/*
 * Past use of queues, for time-based fair share: asked for every fetch interval, at Prometheus in the background or from the
 * scheduler's own record (usage_history.h), and put into the state, where it counts from the next cycle on. What is known stays while nothing better comes. The pace is held
 * until the first answer has come, or the time to wait for it is over.
 */
struct usage;

/* What past use is asked with; all borrowed. */
struct usage_options {
    const struct usage_setting *settings;
    struct loop *loop;
    struct log *log;
    struct observers *observers;
    struct pace *pace;
    /* Of the own record. */
    struct kube_client *client;
    const char *namespace;
    const char *scheduler;
    bool is_silent;
};

/* Begins to ask. Returns 0, with NULL where the settings want no past use; or -EINVAL with what is wrong with them. */
MUST_CHECK int usage_open(const struct usage_options *options, struct usage **ret_usage, struct err *err);
void usage_close(struct usage *usage);

/* The scheduler ends: what it has recorded is written. Over when usage_is_idle() says so. Nothing for NULL. */
void usage_stop(struct usage *usage);
bool usage_is_idle(const struct usage *usage);

/* Where past use is put: the first state, and another one when everything is listed anew. Nothing for a NULL `usage`, here
 * and below. */
void usage_set_state(struct usage *usage, struct state *state);

/* The queue was put into the state: what is known of its past goes there, too. */
void usage_tell_queue(struct usage *usage, const char *queue);
