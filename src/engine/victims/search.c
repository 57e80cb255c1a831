/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The search for one gang. Each generator first finds out for how many pods of the chunk it can make room, by doubling and
 * halving; every success records victims that later probes start from. Then it has one try at the whole chunk, and the
 * first generator that succeeds wins.
 */
#include "engine/victims/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/nodes/gpu_room.h"
#include "engine/nodes/statement.h"
#include "engine/victims/accumulate.h"
#include "engine/victims/eviction_plan.h"
#include "engine/victims/generators.h"
#include "engine/victims/marks.h"
#include "engine/victims/prefilters.h"
#include "engine/victims/record.h"
#include "engine/victims/refute.h"
#include "engine/victims/search_internal.h"
#include "engine/victims/search_rehearsal.h"
#include "engine/victims/sources.h"
#include "engine/victims/validate.h"

struct search *search_new(struct engine *engine, enum action action)
{
    struct search *s = xcalloc(1, sizeof *s);

    s->engine = engine;
    s->action = action;
    arena_init(&s->solving);
    arena_init(&s->probing);
    arena_init(&s->simulating);
    s->sources = sources_new(engine, action);
    s->record = record_new();
    s->prefilters = prefilters_new();
    s->accumulation = accumulation_new();
    s->plan = plan_new();
    s->refutation = refutation_new();
    s->rehearsal = search_rehearsal_new();
    s->validation = validation_new();
    return s;
}

void search_free(struct search *s)
{
    if (!s)
        return;
    validation_free(s->validation);
    search_rehearsal_free(s->rehearsal);
    refutation_free(s->refutation);
    plan_free(s->plan);
    accumulation_free(s->accumulation);
    prefilters_free(s->prefilters);
    record_free(s->record);
    sources_free(s->sources);
    marks_free(s->marks);
    arena_done(&s->solving);
    arena_done(&s->probing);
    arena_done(&s->simulating);
    free(s);
}

bool search_is_over(const struct search *s)
{
    return s->is_over;
}

bool search_ends_action(const struct search *s)
{
    return s->ends_action;
}

bool search_moves_victims(const struct search *s)
{
    const struct pod *pods = s->engine->state->pods.items;

    for (uint32_t i = 0; i < s->plan->victims.len; i++) {
        if (pods[s->plan->victims.items[i].pod].status == POD_PIPELINED)
            return true;
    }
    return false;
}

bool search_must_stop(struct search *s)
{
    const struct engine *engine = s->engine;

    if (s->is_over || s->generator_is_over)
        return true;
    if (engine->config.max_placements > 0 && engine->placements - s->placements_before >= engine->config.max_placements)
        s->is_over = true;
    if (engine->should_stop) {
        void *context = engine->should_stop_context;
        if (engine->should_stop(context, SEARCH_ACTION, s->action))
            s->is_over = s->ends_action = true;
        else if (engine->should_stop(context, SEARCH_JOB, s->gang))
            s->is_over = true;
        else if (engine->should_stop(context, SEARCH_GENERATOR, s->generator))
            s->generator_is_over = true;
    }
    return s->is_over || s->generator_is_over;
}

/* One try at making room for the first `count` pods. True: the statement holds it, and the outcome what it recorded. */
static bool probe(struct search *s, uint32_t count)
{
    bool is_local = generator_is_local(s);

    if (search_must_stop(s))
        return false;
    accumulate_begin(s, count);
    s->view = view_probe(s->engine, &s->probing, s->gang, s->chunk, count);
    refute_begin_probe(s, count);
    if (refute_probe(s, count))
        return false;
    if (is_local ? generator_local(s) : generator_gang(s))
        return true;
    if (s->accumulation->is_exhausted && !search_must_stop(s))
        refute_learn_exhausted(s, count, is_local);
    return false;
}

static bool probe_and_record(struct search *s, uint32_t count)
{
    if (!probe(s, count))
        return false;
    statement_discard(s->engine);
    record_adopt(s);
    return true;
}

/*
 * The last probe starts from what the one before it recorded. Where that is the list of victims that was simulated, in the
 * same order, and it passes the pre-filters by itself, that probe would first offer what has just worked, on equal books:
 * the statement is its result already. Inter-pod affinity is the exception: it remembers what it was asked in a cycle.
 */
static bool last_probe_would_repeat(struct search *s)
{
    if (!s->record->is_repeatable || s->engine->state->affine_pods > 0)
        return false;
    record_adopt(s);
    accumulate_begin(s, s->chunk_count);
    return prefilters_pass(s);
}

/* The largest number of pods for which the generator makes room; `ret_is_solved` when the statement holds all of them. */
static uint32_t find_most(struct search *s, bool *ret_is_solved)
{
    uint32_t good = 0;
    uint32_t bad = 0;

    *ret_is_solved = false;
    for (uint32_t count = 1; good < s->chunk_count; count = MIN(2 * count, s->chunk_count)) {
        if (!probe(s, count)) {
            bad = count;
            break;
        }
        good = count;
        if (count == s->chunk_count && last_probe_would_repeat(s)) {
            *ret_is_solved = true;
            return good;
        }
        statement_discard(s->engine);
        record_adopt(s);
    }
    while (good > 0 && bad > good + 1) {
        uint32_t middle = (good + bad) / 2;
        if (probe_and_record(s, middle))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

static void begin_round(struct search *s, uint32_t generator)
{
    s->generator = generator;
    s->generator_is_over = false;
    record_begin(s);
    refute_begin_round(s);
}

static bool needs_no_gpu(const struct engine *engine, const struct gang *gang)
{
    for (uint32_t g = 0; g < gang->group_count; g++) {
        const struct group *set = &gang->groups[g];
        for (uint32_t i = 0; i < set->pods.len; i++) {
            const struct request *request = state_request(engine->state, set->pods.items[i]);
            if (request->quota_gpus == 0 && request->kind != REQUEST_GPU_MEMORY)
                return true;
        }
    }
    return false;
}

/* The nodes that an attempt may use beside those of victims: all where some pod takes no GPU, else those with room. */
static struct node_set find_feasible(struct search *s)
{
    const struct state *state = s->engine->state;
    const struct gpu_room *room = s->engine->room;

    if (room->room_count == state->nodes_by_rank.len || needs_no_gpu(s->engine, &state->gangs.items[s->gang]))
        return node_set_all(s->engine);
    node_id *ids = arena_alloc(&s->solving, (size_t)room->room_count * sizeof *ids);
    uint32_t count = 0;
    for (uint32_t rank = bitset_next_set(&room->by_rank, 0); rank != BITSET_NONE;
         rank = bitset_next_set(&room->by_rank, rank + 1))
        ids[count++] = state->nodes_by_rank.items[rank];
    return (struct node_set){false, ids, count};
}

static void begin_solve(struct search *s, const struct gang_view *view)
{
    if (!s->marks)
        s->marks = marks_new(s);
    arena_clear(&s->solving);
    s->gang = view->gang;
    s->queue = s->engine->state->gangs.items[view->gang].queue;
    s->chunk_count = view->chunk_count;
    pod_id *chunk = arena_alloc(&s->solving, (size_t)view->chunk_count * sizeof *chunk);
    memcpy(chunk, view->chunk, (size_t)view->chunk_count * sizeof *chunk);
    s->chunk = chunk;
    s->solve = ++s->number;
    s->placements_before = s->engine->placements;
    s->is_over = s->ends_action = s->generator_is_over = false;
    s->generator = 0;
    s->feasible_hundredths = -1;
    if (map64_len(&s->plan->failed) > 0)
        map64_clear(&s->plan->failed);
    gpu_room_refresh(s->engine);
    sources_begin(s->sources, view);
    refute_begin(s);
}

/* The gang's sets are complete, and pods of it found a place. KAI looks at pod sets alone, not at the tree. */
static bool is_solved(const struct search *s, uint32_t used_before)
{
    const struct gang *gang = &s->engine->state->gangs.items[s->gang];

    return gang->short_sets == 0 && gang->active_used > used_before;
}

static bool solve(struct search *s, const struct gang_view *view)
{
    const struct config *config = &s->engine->config;
    uint32_t used_before = s->engine->state->gangs.items[view->gang].active_used;

    begin_solve(s, view);
    if (s->chunk_count == 0 || refute_search(s, view)) {
        s->report.result = SEARCH_HOPELESS;
        return false;
    }
    s->feasible = find_feasible(s);
    prefilters_begin_search(s);
    if (s->action == ACTION_RECLAIM)
        validate_remember_queues(s);
    for (uint32_t g = 0; g < config->generator_count && !s->is_over; g++) {
        bool has_all;
        begin_round(s, g);
        if (find_most(s, &has_all) == 0)
            continue;
        if (!has_all && !probe(s, s->chunk_count))
            continue;
        if (is_solved(s, used_before))
            return true;
        /* KAI gives up here as well, but leaves the attempt in its books. */
        statement_discard(s->engine);
        return false;
    }
    return false;
}

bool search_solve(struct search *s, const struct gang_view *view)
{
    s->report = (struct search_report){.action = s->action, .gang = view->gang, .result = SEARCH_EXHAUSTED};
    bool is_found = solve(s, view);

    if (is_found)
        s->report.result = SEARCH_SOLVED;
    else if (s->is_over)
        s->report.result = SEARCH_ENDED;
    s->report.ended_action = s->ends_action;
    vec_push(&s->engine->searches, s->report);
    return is_found;
}
