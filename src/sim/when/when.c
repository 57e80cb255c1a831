/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/when/when.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "model/retell/retell.h"
#include "model/state.h"

/* Of run times, so many make a group that something is known of. */
enum { RUNS_KNOWN = 10 };
#define SEED_DEFAULT 1

void when_options_init(struct when_options *options)
{
    *options = (struct when_options){
        .future = {.seed = SEED_DEFAULT, .horizon = WHEN_HORIZON},
        .futures = WHEN_FUTURES,
    };
}

static bool holds_gpus(const struct gang *gang)
{
    return gang->own_allocated.v[SHARE_GPU] > 0;
}

static bool any_holds_gpus(const struct state *state)
{
    vec_foreach (&state->gangs, gang)
        if (gang->is_present && holds_gpus(gang))
            return true;
    return false;
}

struct when_basis when_basis(const struct future_world *world)
{
    const struct past *history = world->history;
    bool by_gpus = any_holds_gpus(world->state);
    struct when_basis basis = {
        .past = history->jobs.len,
        .ended = history->ended,
        .past_since = history->jobs.len > 0 ? history->jobs.items[0].submitted : 0,
    };

    for (gang_id id = 0; id < world->state->gangs.len; id++) {
        const struct gang *gang = &world->state->gangs.items[id];

        if (!gang->is_present)
            continue;
        basis.waiting += gang->pending > 0 && gang->active_allocated == 0;
        if (by_gpus ? !holds_gpus(gang) : gang->allocated == 0)
            continue;
        bool is_limited = world->facts[id].limit > 0;
        bool is_known = past_level_of(history, &world->facts[id].traits, RUNS_KNOWN) < _PAST_LEVEL_MAX;
        basis.running++;
        basis.limited += is_limited;
        basis.known += is_known;
        basis.unknown += !is_limited && !is_known;
    }
    return basis;
}

bool when_knows_enough(const struct when_basis *basis)
{
    return (uint64_t)basis->unknown * 10 <= basis->running;
}

/* Gangs that do not fit into the cluster, whatever leaves it. */
static void find_never(const struct future_world *world, struct when_answer *answers, uint32_t count)
{
    const struct retell_change nothing = RETELL_CHANGE_INIT(NO_ID);
    const struct state *from = world->state;
    struct state *copy = state_retell(from, &nothing);
    struct engine *engine = engine_new(copy, world->config);

    engine_take_in(engine);
    engine_open(engine, world->now);
    engine_run(engine, ACTION_ALLOCATE);
    for (uint32_t i = 0; i < count; i++) {
        const struct gang *gang = &from->gangs.items[answers[i].gang];
        gang_id id = state_find_gang(copy, state_name(from, gang->namespace), state_name(from, gang->name));

        if (answers[i].outcome == WHEN_EXPECTED && id != NO_ID &&
            verdict_class(engine_verdict(engine, id).code) == VERDICT_CLASS_NEVER)
            answers[i].outcome = WHEN_NEVER;
    }
    engine_close(engine);
    engine_free(engine);
    state_free(copy);
}

static bool is_running(const struct gang *gang)
{
    return gang->active_allocated > 0 && gang->short_sets == 0;
}

static int compare_times(const void *l_, const void *r_)
{
    const nsec_t *l = l_;
    const nsec_t *r = r_;

    return *l < *r ? -1 : *l > *r;
}

/* What is asked about in each future, and what came of it so far. */
struct target {
    struct when_answer *answer;
    VEC(nsec_t) starts;
    uint32_t missed;  // futures in which it did not start
};

struct targets VEC_OF(struct target);

static void targets_done(struct targets *targets)
{
    vec_foreach (targets, target)
        vec_done(&target->starts);
    vec_done(targets);
}

/* It has not started in half of all futures: whatever the others say, it is later. They need not wait for it. */
static bool is_decided(const struct target *target, const struct when_options *options)
{
    return target->missed * 2 >= options->futures;
}

/* The next future, for what is not decided. Returns how many targets that was; 0: all are. */
static int run_future(const struct future_world *world, const struct when_options *options, uint32_t number,
                      struct targets *targets, struct err *err)
{
    _cleanup_(freep) gang_id *gangs = xcalloc(targets->len, sizeof *gangs);
    _cleanup_(freep) nsec_t *starts = xcalloc(targets->len, sizeof *starts);
    uint32_t count = 0;

    vec_foreach (targets, target)
        if (!is_decided(target, options))
            gangs[count++] = target->answer->gang;
    if (count == 0)
        return 0;
    int r = future_run(world, &options->future, number, gangs, count, starts, err);
    if (r < 0)
        return r;
    const nsec_t *start = starts;
    vec_foreach (targets, target) {
        if (is_decided(target, options))
            continue;
        vec_push(&target->starts, *start);
        target->missed += *start++ == NSEC_MAX;
    }
    return (int)count;
}

static void conclude(const struct future_world *world, const struct when_options *options, struct target *target)
{
    struct when_answer *answer = target->answer;
    const struct gang *gang = &world->state->gangs.items[answer->gang];
    uint32_t futures = target->starts.len;
    struct prediction_subject subject = {
        .queue = hash_str(state_name(world->state, gang->queue_name), 0),
        .gpus = world->facts[answer->gang].gpus,
    };

    qsort(target->starts.items, futures, sizeof *target->starts.items, compare_times);
    prediction_set(&answer->prediction, world->now, target->starts.items, futures, world->now + options->future.horizon,
                   &subject);
    if (options->calibration)
        calibration_apply(options->calibration, options->open, &answer->prediction);
    answer->outcome = answer->prediction.started * 2 > futures ? WHEN_EXPECTED : WHEN_LATER;
}

static int predict(const struct future_world *world, const struct when_options *options, struct when_answer *answers,
                   uint32_t count, struct err *err)
{
    struct targets targets = {0};
    int r = 1;

    for (uint32_t i = 0; i < count; i++)
        if (answers[i].outcome == WHEN_EXPECTED)
            vec_push(&targets, (struct target){.answer = &answers[i]});
    for (uint32_t i = 0; r > 0 && i < options->futures && targets.len > 0; i++) {
        if (i >= WHEN_FUTURES_MIN && options->goes_on && !options->goes_on(options->context))
            break;
        r = run_future(world, options, i, &targets, err);
    }
    for (uint32_t i = 0; r >= 0 && i < targets.len; i++)
        conclude(world, options, &targets.items[i]);
    targets_done(&targets);
    return MIN(r, 0);
}

int when_ask(const struct future_world *world, const struct when_options *options, struct when_answer *answers,
             uint32_t count, struct err *err)
{
    struct when_basis basis = when_basis(world);
    bool knows_enough = when_knows_enough(&basis);

    for (uint32_t i = 0; i < count; i++) {
        const struct gang *gang = &world->state->gangs.items[answers[i].gang];

        answers[i] = (struct when_answer){.gang = answers[i].gang};
        if (is_running(gang)) {
            answers[i].outcome = WHEN_RUNNING;
            answers[i].started = gang->last_start;
        }
    }
    future_take_in_running(world);
    if (count > 0)
        find_never(world, answers, count);
    for (uint32_t i = 0; i < count; i++)
        if (answers[i].outcome == WHEN_EXPECTED && !knows_enough)
            answers[i].outcome = WHEN_UNKNOWN;
    return predict(world, options, answers, count, err);
}
