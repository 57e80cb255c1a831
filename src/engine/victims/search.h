/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The search for victims: which pods have to leave so that a waiting gang can be placed, and whether the rules of an
 * action allow it. It decides as KAI does, in this order:
 *
 *   solve      a gang's chunk is tried in part: 1, 2, 4, ... pods, then by halves, then all of it (search.c)
 *   probe      for so many pods a generator offers scenarios until one works (generator_*.c)
 *   accumulate victims come one batch after the other, worst first; pre-filters say when there may be enough
 *              (search_accumulate.c, search_prefilter.c)
 *   simulate   a scenario's victims are evicted, then they and the probe are placed in the order of queues (scenario.c)
 *   validate   the action's rules on who was really evicted (validate_*.c)
 *
 * Beside that, what cannot succeed is refuted without being simulated (search_refute.c, search_replay.c); each refutation
 * is a condition that success implies, so that decisions stay the same.
 *
 * Memory: three arenas (of a gang's search, of a probe, of a scenario), and marks by pod, node and gang, which numbers
 * make stale at once.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/time.h"
#include "base/vec.h"
#include "engine/action.h"
#include "engine/engine.h"
#include "engine/gangs/view.h"
#include "engine/nodes/gpu_room.h"
#include "engine/nodes/place.h"
#include "engine/queues/order.h"
#include "engine/queues/order_tree.h"
#include "model/ids.h"
#include "model/resources.h"

struct engine;
struct gang;
struct signatures;

/* A pod to be evicted, as it is before the search. */
struct victim {
    pod_id pod;
    node_id node;
    double freed;  // GPUs that its queue gets back
};

/* Victims that go together: what one step of eviction takes from a gang, or several such steps in one. */
struct victim_group {
    gang_id gang;
    uint32_t count;
    const struct victim *victims;
};

struct victim_groups VEC_OF(struct victim_group);

/* The largest `want` of many numbers that only grow, kept sorted. */
struct top_item {
    uint32_t id;
    double value;
};

struct top_list {
    struct top_item *items;
    double *work;  // room for top_list_takes
    uint32_t len;
    uint32_t want;
    double unit;  // not 0: `units` counts how often this whole number goes into the values
    int64_t units;
};

void top_list_init(struct top_list *list, struct arena *arena, uint32_t want, double unit);

/* The number of `id` is `value` now: new, or larger than it was. */
void top_list_raise(struct top_list *list, uint32_t id, double value);

/* Do `demands`, largest first, go into the numbers, each into the first that has as much left? */
bool top_list_takes(struct top_list *list, const double *demands, uint32_t count);

/* How often `unit` can be taken from `value`. */
int64_t units_in(double value, double unit);

/* A level of a topology at which groups of the gang have to be together; domains are told apart by label value alone. */
struct domain_level {
    name_id topology;
    name_id key;
    uint32_t *domain_of;  // by node id, NO_ID where the label is missing
    double *free;         // by domain: idle and releasing GPUs
    uint32_t domain_count;
    uint32_t *groups;  // of the gang that have to be together at this level
    double *running;   // GPUs that each has already
    uint32_t group_count;
};

struct domain_filter {
    const struct domain_level *level;
    double *capacity;  // by domain: free GPUs and those of victims
    double *demands;   // of the groups, largest first
    struct top_list best;
};

/* What the pre-filters of a probe know; see search_prefilter.c. */
struct prefilters {
    constraints_id *picky;  // of pods that may go only to some nodes and have met none of them
    uint32_t picky_count;
    struct domain_filter *levels;
    const double *demands;  // GPUs of each pod, largest first; up to the first 0
    uint32_t demand_count;
    struct top_list best;
    bool is_monotone;  // more pods never pass where fewer did not
};

/* Slots are counted for the victims of a scenario, and for all victims of a probe so far. */
enum slot_count { OF_SCENARIO, OF_STATE, _SLOT_COUNT_MAX };

struct pod_mark {
    uint32_t recorded;  // the probe for which it is a recorded victim
    uint32_t listed;    // the scenario that it is in
};

struct node_tally {
    uint32_t probe;       // the probe that the following is about
    uint32_t first_seat;  // gangs with potential victims here, in the order in which they came; NO_ID: none
    uint32_t last_seat;
    uint32_t appearance;                 // among nodes with potential victims
    double capacity;                     // free GPUs and those of victims, added in the order of victims
    double recorded;                     // GPUs of recorded victims
    double potential;                    // GPUs of potential victims
    uint32_t summed_in;                  // the sum that the node is in
    uint32_t chosen_in;                  // the scenario that chose the node
    uint32_t recorded_in;                // the generator's round in which a recorded victim was really moved from here
    uint32_t bound_in[_SLOT_COUNT_MAX];  // the scenario or probe that `bound` is about
    int64_t bound[_SLOT_COUNT_MAX];      // whole GPUs that its victims free at most; billionths
};

struct gang_tally {
    uint32_t probe;
    uint32_t first_group;
    uint32_t last_group;
    uint32_t listed;  // the scenario that it is in
    uint32_t place;   // and where, while a scenario is validated
    uint32_t turn;    // among the gangs of its leaf, for replays; NO_ID: cannot be replayed
    uint32_t turn_solve;
};

struct seat {
    gang_id gang;
    uint32_t next;
};

/* A leaf queue as a source of victims for the gang under way. */
struct leaf_case {
    uint32_t solve;  // the search that this is about
    bool is_source;  // the queues' books allow taking from it
    bool gives_up;   // a first victim from it would be allowed to be evicted
    double surplus;  // GPUs that its side may give, but for the last item; may be infinite
    nsec_t min_runtime;
    queue_id mine;  // the two queues below the deepest common ancestor
    queue_id theirs;
};

/* What the leaves of one side may give. */
struct side {
    uint32_t solve;
    int64_t held;  // billionths
    int64_t largest_item;
};

struct queue_before {
    struct amounts allocated;
    struct amounts fixed;
};

struct queue_rest {
    uint32_t validation;  // that the following is about
    uint32_t involved;    // bits of resources that victims of its gangs give back
    struct amounts left;
};

/* Slots by domain of a level at which pods have to be together. */
struct level_slots {
    int64_t *base;                   // by domain, without victims
    int64_t *with[_SLOT_COUNT_MAX];  // by domain: with the victims of the scenario or probe `counted_in`
    uint32_t *counted_in[_SLOT_COUNT_MAX];
    int64_t most_base;
    int64_t most[_SLOT_COUNT_MAX];  // in one domain
    uint32_t need;                  // pods of the probe that one domain has to hold
};

/* Refutations: what is known to be hopeless in the search under way. See search_refute.c. */
struct refutation {
    uint32_t never_passes;       // pre-filters never pass for so many pods or more
    int64_t unit;                // whole GPUs of the smallest pod of the probe that takes any; 0: no such test
    uint32_t unit_count;         // pods that take whole GPUs
    int64_t base_unit;           // that `base_slots` are for
    int64_t base_slots;          // such pods that free GPUs hold without victims
    struct level_slots *levels;  // by the search's levels; NULL: not counted
    uint32_t state_probe;        // the probe of which the first `state_groups` groups are counted
    uint32_t state_groups;
    int64_t state_slots;       // that they add
    int64_t local_gain;        // most pods that one step of the local generator added room for; -1: not known
    int64_t local_unit;        // of that size
    const pod_id *local_past;  // what was recorded when that was found
    uint32_t local_past_count;
};

/* What replays of the search under way know; see search_replay.c. */
struct search_replay {
    uint32_t solve;  // the search that this is about
    bool is_plain;
    bool is_leaf_plain;
    uint32_t leaf_count;
    queue_id leaf;  // the victims' leaf that turns are known of
    struct turn *turns;
    uint32_t turn_count;
    double before_any[SHARE_COUNT];  // the most that a gang which waits in the leaf asks for
    uint64_t *chosen;                // by elastic state, bits: turns of the scenario's gangs
    uint32_t words;                  // of such bits
    uint32_t barrier_probe;          // the probe of which the barrier is known
    struct queue_rank barrier;       // the last place of the probe's leaf before the probe's turn
};

struct search {
    struct engine *engine;
    enum action action;
    uint32_t number;  // gives marks their numbers

    /* The gang. */
    gang_id gang;
    queue_id queue;
    const pod_id *chunk;
    uint32_t chunk_count;
    double asked[SHARE_COUNT];
    uint32_t solve;
    uint64_t placements_before;
    bool is_over;  // a limit ended it
    bool ends_action;
    struct node_set feasible;     // nodes that may have room before anything is evicted
    struct top_list roomiest;     // the best of them, for pre-filters; made when first needed
    int64_t feasible_hundredths;  // their GPUs, -1 while not summed up
    struct domain_level *levels;  // at which groups of the gang have to be together
    uint32_t level_count;
    struct refutation refutation;
    struct search_replay replay;
    struct map64 failed;  // fingerprints of scenarios

    /* A generator's round. */
    uint32_t generator;  // index in the settings
    bool generator_is_over;
    uint32_t round;
    struct victim_groups recorded;
    VEC(node_id) recorded_nodes;  // that its really moved victims were on

    /* A probe. */
    uint32_t probe;
    const struct gang_view *view;
    struct prefilters prefilters;
    struct order *victim_order;  // made when first needed
    bool has_offered;
    bool is_exhausted;
    bool has_passed;
    uint32_t grown;  // batches taken
    uint32_t candidate_gangs;
    struct victim_groups groups;  // recorded ones, then potential ones as they came
    VEC(uint32_t) next_group;     // of the same gang
    VEC(struct seat) seats;
    VEC(node_id) victim_nodes;  // nodes of potential victims, by appearance
    VEC(node_id) by_capacity;   // the same in the order in which the gang generator takes them

    /* A scenario. */
    uint32_t scenario;
    struct victim_groups chosen;  // groups, recorded ones first
    VEC(struct victim) victims;   // of all of them, each once
    VEC(gang_id) victim_gangs;
    struct victim_groups outcome;  // what a success records
    VEC(node_id) outcome_nodes;
    bool is_repeatable;  // recording left the list of victims as it was

    struct arena solving;
    struct arena probing;
    struct arena simulating;
    struct pod_mark *pods;  // by id; zeros until used
    struct node_tally *nodes;
    struct gang_tally *gangs;
    struct leaf_case *leaves;
    struct side *sides;  // by queue id
    struct queue_before *before;
    struct queue_rest *rests;
    uint32_t validation;
    struct search_report report;  // of the gang under way
};

/* A search's memory, for one run of an action. */
void search_init(struct search *search, struct engine *engine, enum action action);
void search_done(struct search *search);

/*
 * Looks for victims for the gang whose view is given. True: the statement holds the solution. False: the statement is
 * empty, and `is_over` says whether a limit ended it.
 */
bool search_solve(struct search *search, const struct gang_view *view);

/* Asked between scenarios: has a limit been reached? */
bool search_must_stop(struct search *search);

/* Candidates (search_candidates.c). */
bool search_takes_queue(void *search, queue_id leaf);
bool search_takes_gang(void *search, gang_id gang);
const struct leaf_case *leaf_case(struct search *search, queue_id leaf);

/* May the gang take from others at all (KAI's canReclaim)? */
bool reclaim_is_due(const struct engine *engine, const struct gang_view *view);

/* Could the gang be placed if free GPUs lay well? */
bool consolidation_may_help(struct engine *engine, const struct gang_view *view);

/* Accumulation: each call goes on to the next state that passes the pre-filters. */
void accumulate_begin(struct search *search, uint32_t count);
bool accumulate_next(struct search *search);
bool has_potential(const struct search *search);
struct node_tally *node_tally(struct search *search, node_id node);

/* Pre-filters; the levels are the search's, the rest is the probe's. */
void prefilters_find_levels(struct search *search);
bool group_is_below(const struct gang *gang, uint32_t group, uint32_t above);  // or is it
void prefilters_begin(struct search *search, uint32_t count);
void prefilters_victim(struct search *search, const struct victim *victim, double capacity);
bool prefilters_pass(struct search *search);

/* Generators: whether a scenario of theirs worked; the statement then holds it. */
bool generator_local(struct search *search);
bool generator_gang(struct search *search);

/* The scenario that the local generator makes of the victims so far on a node. */
void generator_local_fill(struct search *search, node_id node);

/* Scenarios: begun with the recorded victims, filled with groups, tried. */
void scenario_begin(struct search *search);
void scenario_add(struct search *search, const struct victim_group *group);
bool scenario_try(struct search *search);

/* Would the scenario fail, as a replay of it says (search_replay.c)? False also where none can tell. */
bool replay_refutes(struct search *search);

/* Validators, with the scenario simulated. */
bool validate_consolidation(const struct search *search);
bool validate_reclaim(struct search *search);
bool validate_min_runtime(struct search *search);
bool gang_is_protected(struct search *search, gang_id gang);
nsec_t preempt_min_runtime(const struct engine *engine, queue_id victim);
nsec_t reclaim_min_runtime(const struct engine *engine, queue_id mine, queue_id victim);
void validate_remember_queues(struct search *search);

/* Refutations. */
void refute_begin(struct search *search);
bool refute_search(struct search *search, const struct gang_view *view);
void refute_begin_probe(struct search *search, uint32_t count);
bool refute_probe(struct search *search, uint32_t count);
bool refute_state(struct search *search);
bool refute_scenario(struct search *search);
void refute_learn_exhausted(struct search *search, uint32_t count, bool is_local);

/*
 * Scheduling signatures: a gang that is alike one that failed, and asks for no less, is not tried again in this action.
 */
struct signatures *signatures_new(struct engine *engine, struct arena *arena);
void signatures_free(struct signatures *signatures);

/* The signature of the gang within `scope`, a queue or NO_ID. */
uint64_t signature_of(struct signatures *signatures, gang_id gang, queue_id scope);

/* Is a gang with this signature worth a try? And: it failed. */
bool signatures_may_try(struct signatures *signatures, uint64_t signature, gang_id gang);
void signatures_failed(struct signatures *signatures, uint64_t signature, gang_id gang);
