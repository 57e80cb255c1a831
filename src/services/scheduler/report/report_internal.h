/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/time.h"
#include "engine/verdict.h"
#include "net/loop.h"
#include "services/scheduler/keys.h"
#include "services/scheduler/report/report.h"

struct explanation;

/* What was last told about a gang that waits. */
struct told {
    uint64_t hash;  // of the verdict
    nsec_t at;      // 0: never
    nsec_t since;   // it has been waiting
};

struct report {
    struct state *state;
    struct engine *engine;
    const struct setup *setup;
    struct recorder *recorder;
    struct writes *writes;
    struct pod_notes *pod_notes;
    struct gang_notes *gang_notes;
    const struct pace *pace;
    struct traffic *traffic;
    struct map64 told;               // gang's key -> struct told *
    struct loop_timer events_timer;  // these three are report_events.c's
    struct list events_of_trouble;   // that wait for their turn, before
    struct list events_of_course;
};

/* report_events.c: events that wait. */
void report_events_init(struct report *report, struct loop *loop);
void report_events_done(struct report *report);

/* The gang's scheduling condition in our node pool, if it is not that already. */
/* KAI's words for why; programs match on them. */
const char *report_reason_of(enum verdict_code code);

void report_gang_condition(struct report *report, gang_id gang, const struct explanation *explanation,
                           const char *message);
