/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "console/workloads/phase.h"

/* What an object of a workload says about it: reads all of the facts but the counts of pods. */
void facts_of_job(yyjson_val *job, struct workload_facts *ret_facts);
void facts_of_deployment(yyjson_val *deployment, struct workload_facts *ret_facts);

/* The role of an object among several of one workload, as a label: by the head's end all have ended. */
#define OBJECT_LABEL_ROLE "console.muster/role"
#define ROLE_HEAD "head"

/* Adds what one more object says; `is_head` whether it is the head. The first one is added to zeros. */
void facts_add(struct workload_facts *facts, const struct workload_facts *more, bool is_head);
