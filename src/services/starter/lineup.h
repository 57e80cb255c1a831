/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/strmap.h"
#include "base/time.h"
#include "frame/work.h"
#include "services/starter/dependency.h"

/*
 * The Jobs that people submit, as far as it matters for their numbers and their start, and what is to be done about each. It
 * knows nothing of requests and clocks.
 */
enum waiter_end { JOB_LIVES, JOB_COMPLETED, JOB_FAILED, JOB_CANCELLED };

/* The Jobs of an array. */
struct waiter_array {
    char *namespace, *name;
    uint32_t jobs;
    int64_t number;  // of the first of its Jobs that got one; 0: none has
    int64_t active;  // that run, or are being started; as of lineup_tally()
};

struct waiter {
    struct work_item work;
    void *owner;  // of whoever works on it
    struct kube_call *call;
    char *namespace, *name, *uid;
    char *job_name, *user;
    struct waiter_array *array;  // NULL: it belongs to none
    char *array_index;
    char *dependency;   // ""
    char *wait_reason;  // as it is on the server
    uint64_t version;   // of the object
    int64_t number;     // 0: none yet
    int64_t taken;      // that it is to get
    int64_t array_number;
    int64_t array_limit;
    nsec_t created, begin, cancelled;
    int64_t keep_s;
    enum waiter_end end;
    bool is_suspended, is_held, is_waiting;  // `is_waiting`: we are to start it
    bool has_started;                        // it has run before
    bool tells_pods;                         // its pods are to know the number
    bool is_starting;                        // our request is under way or has not been seen yet
    uint64_t sequence;                       // order in which they were first seen
};

struct lineup {
    struct strmap jobs;
    struct strmap arrays;
    int64_t highest;  // number that any of them has or had
    uint64_t next_sequence;
};

void lineup_done(struct lineup *lineup);

/* An object was added or changed; one that is older than what is known is ignored. Returns its Job. */
struct waiter *lineup_put(struct lineup *lineup, yyjson_val *object);

/* It is gone: takes it out, for the caller to free by waiter_free(); NULL when it was not there. */
struct waiter *lineup_remove(struct lineup *lineup, const char *namespace, const char *name);
void waiter_free(struct waiter *job);

/* Counts the Jobs of arrays anew, before plans are made. */
void lineup_tally(struct lineup *lineup);

/* What is to be done about a Job at the time `now`. */
struct waiter_plan {
    bool needs_number;
    bool starts;
    bool is_deleted;     // it was cancelled, and has been kept long enough
    const char *reason;  // why it does not start; "" for one that we do not start
    nsec_t look_again;   // 0: when something changes
};
struct waiter_plan lineup_plan(const struct lineup *lineup, const struct waiter *job, nsec_t now);

/* The Job is being started: counts as one that runs. */
void waiter_starts(struct waiter *job);
