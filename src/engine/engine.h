/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "engine/action.h"
#include "engine/config.h"
#include "engine/verdict.h"
#include "model/ids.h"
#include "model/resources.h"

struct arena;
struct state;

/*
 * The engine decides, over a state that somebody else keeps: who runs now, on which node and device, and at whose expense.
 *
 *     struct engine *engine = engine_new(state, &config);
 *     ... deltas ...
 *     engine_take_in(engine);            // settles the state, brings what the engine keeps beside it up to date
 *     engine_open(engine, now);          // fair shares
 *     engine_run(engine, ACTION_ALLOCATE); ...
 *     ... read engine_decisions, engine_verdict ...
 *     engine_close(engine);              // promises are forgotten: promised pods wait again
 *
 * After a cycle the state holds its decisions: bound pods are POD_BINDING on their nodes, evicted ones POD_RELEASING.
 * Deltas then say what became of them. As in KAI a pod that was only promised a place may be evicted from it for
 * another gang's sake: it waits again after engine_close, and there is nothing to carry out. No I/O, no clock, no
 * randomness: equal states and times give equal decisions.
 */
struct engine;

/* Borrows the state, copies the settings. */
struct engine *engine_new(struct state *state, const struct config *config);
void engine_free(struct engine *engine);

/* What it decides over, and how. */
const struct state *engine_state(const struct engine *engine);
const struct config *engine_config(const struct engine *engine);

void engine_take_in(struct engine *engine);
void engine_open(struct engine *engine, nsec_t now);
void engine_run(struct engine *engine, enum action action);
void engine_close(struct engine *engine);

/*
 * Asked between two eviction plans of a search with what was spent so far; answering true ends that search. `stage` tells
 * which budget is asked about: an action's, a job's, or a generator's (its index in config.generators).
 */
enum search_stage { SEARCH_ACTION, SEARCH_JOB, SEARCH_GENERATOR };

typedef bool (*should_stop_fn)(void *context, enum search_stage stage, uint32_t which);

void engine_set_clock(struct engine *engine, should_stop_fn should_stop, void *context);

/* What was set, NULL when nothing was; for whoever stands in between. */
should_stop_fn engine_clock(const struct engine *engine, void **ret_context);

enum decision_kind { DECISION_BIND, DECISION_EVICT, DECISION_PIPELINE };

struct decision {
    enum action action;
    enum decision_kind kind;
    pod_id pod;
    node_id node;       // an evicted pod that moves: where to
    gang_id on_behalf;  // evictions: the gang that they make room for, NO_ID for stale gangs
};

/* "bind", "evict", "pipeline". */
const char *decision_kind_name(enum decision_kind kind);

/* The decisions of this cycle so far, in order. */
const struct decision *engine_decisions(const struct engine *engine, size_t *ret_count);

/* What the last attempt at the gang left. */
struct verdict engine_verdict(const struct engine *engine, gang_id gang);

/*
 * The gangs that wait, in the order in which allocate would take them up, if it placed none of them; in `arena`. The
 * engine must be open.
 */
const gang_id *engine_waiting(struct engine *engine, struct arena *arena, uint32_t *ret_count);

/* What the queue deserves of each resource beside what it asked for, as of engine_open; unlimited is -1. */
struct queue_share {
    double fair[SHARE_COUNT];
    double allocated[SHARE_COUNT];  // as of engine_open
    double allocated_fixed[SHARE_COUNT];
    double requested[SHARE_COUNT];
};

struct queue_share engine_share(const struct engine *engine, queue_id queue);

/* The most of a resource (its dimension) that any node has, as of engine_take_in. */
int64_t engine_largest(const struct engine *engine, uint32_t dim);

/* How a search for victims ended. */
enum search_result {
    SEARCH_SOLVED,
    SEARCH_EXHAUSTED,  // everything that was worth trying was tried
    SEARCH_ENDED,      // by a limit or by the clock
    SEARCH_HOPELESS,   // nothing that could be evicted would help: nothing was tried
    _SEARCH_RESULT_MAX
};

/* One search of this cycle, with the eviction plans that each generator made: sets of victims. */
struct search_report {
    enum action action;
    gang_id gang;
    enum search_result result;
    bool ended_action;  // the clock ended the whole action with it
    struct {
        uint32_t emitted;
        uint32_t simulated;  // the others were refuted without that
        uint32_t rejected;   // by the rules of the action, after they had made room
    } generators[GENERATORS_MAX];
};

/* The searches of this cycle so far, in order. */
const struct search_report *engine_searches(const struct engine *engine, size_t *ret_count);

/* Simulated placements of this cycle so far: the measure of the work that was done. */
uint64_t engine_placements(const struct engine *engine);

/* Bytes that the engine keeps beside the state. */
size_t engine_bytes(const struct engine *engine);
