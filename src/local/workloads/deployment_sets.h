/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/vec.h"
#include "local/controllers/controller.h"

#define DEPLOYMENT_HASH "pod-template-hash"
#define DEPLOYMENT_REVISION "deployment.kubernetes.io/revision"

/* The ReplicaSets of a Deployment: the one with its template, and those of former templates. */
struct deployment_sets {
    struct child *current;    // NULL: not there yet
    VEC(struct child *) old;  // by age, the oldest first
    int64_t revision;         // that `current` has, or gets
};

void deployment_sets_init(struct deployment_sets *sets, struct owner *deployment);
void deployment_sets_done(struct deployment_sets *sets);

/* Numbers of one ReplicaSet. */
int64_t set_wanted(const struct child *set);                     // spec.replicas
int64_t set_count(const struct child *set, const char *member);  // of the status; 0 for no set
int64_t set_revision(const struct child *set);

/* Creates the ReplicaSet of the template with so many replicas. */
void deployment_create_set(struct owner *deployment, const struct deployment_sets *sets, int64_t replicas,
                           int64_t surge);

/* Makes the ReplicaSet want so many replicas, and updates its annotations; writes nothing when all is so. */
void deployment_scale_set(struct owner *deployment, const struct deployment_sets *sets, struct child *set,
                          int64_t replicas, int64_t surge);

/* Removes old ReplicaSets without pods beyond spec.revisionHistoryLimit. */
void deployment_clean_sets(struct owner *deployment, const struct deployment_sets *sets);
