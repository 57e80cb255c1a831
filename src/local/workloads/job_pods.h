/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "local/workloads/job_tally.h"

/* Pods of a Job have its uid in this label. */
#define JOB_UID_LABEL "batch.kubernetes.io/controller-uid"

/* Creates the pods that a Job needs, or deletes those that are too many. */
void job_pods_scale(struct owner *job, struct job_tally *tally);

/* Ends a pod that shall not count: without its finalizer it does not. */
void job_pod_end(struct owner *job, struct child *pod);

/* Takes the finalizer off a pod. */
void job_pod_release(struct owner *job, const struct child *pod);

/* For the controller: pods that hold a finalizer of a Job that is gone. */
const char *job_pods_family(yyjson_val *pod);
void job_pods_lost(struct controller *controller, struct child *pod);
void job_pods_close(struct controller *controller);
