/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "local/controllers/controller.h"
#include "local/workloads/job_indexes.h"

/*
 * The pods of a Job, counted. A pod that has ended counts once, also when it is deleted at that moment or when we are
 * stopped: its finalizer holds it until its uid is in status.uncountedTerminatedPods, and it moves from there to the sums
 * only when the finalizer is gone. A success of an Indexed Job counts by its index instead.
 */
#define JOB_INDEX "batch.kubernetes.io/job-completion-index"
#define JOB_INDEX_FAILURES "batch.kubernetes.io/job-index-failure-count"

struct job_uids VEC_OF(const char *);  // borrowed from pods

struct job_tally {
    /* The spec. */
    bool is_indexed, is_per_index, is_suspended;
    bool only_failed_replaced;  // podReplacementPolicy: Failed
    int64_t parallelism;
    int64_t completions;  // -1: none
    int64_t backoff_limit;
    int64_t backoff_per_index;

    /* The pods. */
    VEC(struct child *) active;
    int64_t ready, ending;
    int64_t restarts;         // of active pods
    struct job_uids release;  // finalizers that can go now
    struct job_uids new_succeeded, new_failed;
    int64_t succeeded, failed;  // with all that are uncounted
    int64_t counted_succeeded, counted_failed;
    struct job_uids uncounted_succeeded, uncounted_failed;  // that stay uncounted
    struct job_indexes completed, failed_indexes;
    bool has_new;

    /* A rule of the failure policy has decided. */
    bool is_failed_by_policy;
    char policy_message[512];
};

void job_tally_init(struct job_tally *tally, struct owner *job);
void job_tally_done(struct job_tally *tally);

/* The completion index of a pod; -1 when it has none. */
int64_t job_index_of(const struct child *pod);
