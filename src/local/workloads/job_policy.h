/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

/* What spec.podFailurePolicy says about a pod that has failed: the first rule that matches decides. */
enum job_verdict { JOB_COUNT, JOB_IGNORE, JOB_FAIL, JOB_FAIL_INDEX };

/* `reason` gets the message of the condition for JOB_FAIL. */
enum job_verdict job_policy_judge(yyjson_val *job, yyjson_val *pod, char *reason, size_t reason_size);

struct job_indexes;

/* The first rule of the Job's success policy that the completed indexes meet; -1: none. */
int job_policy_succeeds(yyjson_val *job, const struct job_indexes *completed, uint32_t completions);
