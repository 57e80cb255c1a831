/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "console/workloads/phase.h"

/* What an object of a workload says about it: reads all of the facts but the counts of pods. */
void facts_of_job(yyjson_val *job, struct workload_facts *ret_facts);
void facts_of_deployment(yyjson_val *deployment, struct workload_facts *ret_facts);
