/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/vec.h"
#include "cli/work/api.h"
#include "cli/work/array.h"
#include "cli/work/job_spec.h"

/* Submitting, for `muster submit` and for the commands of Slurm. */
struct submitted {
    struct submitted_names VEC_OF(char *) names;  // of the Jobs, in the order of the array
    char *namespace;
    char *job_id;  // of the Job, or of the array; NULL: not waited for
};
void submitted_done(struct submitted *submitted);

/*
 * Creates the Job, or one Job for each index of the array (NULL: no array). When `waits_for_number` is set, it returns when
 * the Job has its number; without the service that gives them this fails after some seconds, and the Jobs stay.
 */
MUST_CHECK int submit_job(struct api *api, struct job_spec *spec, const struct array_spec *array, bool waits_for_number,
                          struct submitted *ret, struct err *err);

/*
 * Waits until all of them have ended. Returns 0 with the exit code of the first one that failed: that of its process, or 1
 * where it ended otherwise; or a failure of the server.
 */
MUST_CHECK int submit_await(struct api *api, const struct submitted *submitted, int *ret_exit, struct err *err);

/* Whether the server is a Muster on one machine, which runs work as processes. */
MUST_CHECK int api_is_local(struct api *api, bool *ret, struct err *err);

/* The name of the user, if it can be a label; "" otherwise. */
const char *submit_user(void);
