/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/time.h"
#include "services/scheduler/keys.h"

struct explanation;
struct scheduler;

/* What was last told about a gang that waits. */
struct told {
    uint64_t hash;  // of the verdict
    nsec_t at;      // 0: never
    nsec_t since;   // it has been waiting
};

/* The gang's scheduling condition in our node pool, if it is not that already. */
void report_gang_condition(struct scheduler *s, gang_id gang, const struct explanation *explanation,
                           const char *message);
