/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "base/vec.h"
#include "engine/action.h"
#include "engine/config.h"
#include "model/ids.h"
#include "text/json.h"

struct engine;
struct err;
struct state;

/*
 * A scenario: a cluster and its workloads in one JSON object, and which actions run on it, once or round after round.
 * Reading one fills a state by deltas; playing it runs the engine over that state. Nothing is kept between scenarios.
 */
struct scenario_job {
    gang_id gang;
    uint32_t first_pod;  // in scenario.pods
    uint32_t pod_count;
    nsec_t stale_since;    // as the file says; put back after each round
    bool stays_releasing;  // its pods never leave when evicted
};

struct scenario {
    const char *id;  // borrowed from the document; "" when it has none
    const char *name;
    bool is_multi_round;
    uint32_t rounds_until_match;
    uint32_t rounds_after_match;
    struct config config;
    struct state *state;
    VEC(struct scenario_job) jobs;  // these four in the order of the file
    VEC(pod_id) pods;
    VEC(queue_id) queues;
    VEC(node_id) nodes;
    struct strbuf warnings;  // a line each, without what they are about
};

/* The moment at which every session of a scenario opens: 2023-11-14T22:13:20Z. Ages in the file count back from it. */
#define SCENARIO_NOW (INT64_C(1700000000) * NSEC_PER_SEC)

/*
 * Fills `s` from the object at `at`, whose document has to live as long. Fails with -EINVAL and the path of what is
 * wrong; scenario_done is called in any case.
 */
MUST_CHECK int scenario_read(struct scenario *s, const struct json_at *at, struct err *err);
void scenario_done(struct scenario *s);

/* What a round took. `state`: reading or folding the state and taking it in; `open`: fair shares. */
struct scenario_timing {
    nsec_t state;
    nsec_t open;
    nsec_t action[_ACTION_MAX];
};

struct scenario_round {
    uint32_t number;  // from 0
    bool is_last;
    struct scenario_timing timing;
};

/*
 * Who looks on while a scenario is simulated. `round` is called after the actions, while the decisions are in the state
 * and before anything is folded back; `match` at the match point of a scenario of several rounds. `clock` times the
 * parts and may be NULL.
 */
struct scenario_watch {
    void (*round)(void *context, const struct scenario *s, const struct engine *engine,
                  const struct scenario_round *round);
    void (*match)(void *context, const struct scenario *s);
    void *context;
    nsec_t (*clock)(void);
};

/* Reads and simulates the scenario at `at`; `s` is at its end state after it, until scenario_done. */
MUST_CHECK int scenario_simulate(struct scenario *s, const struct json_at *at, const struct scenario_watch *watch,
                                 struct err *err);
