/* SPDX-License-Identifier: Apache-2.0 */

/* Both sides of the question, the pairs of futures, and how often requirements hold in them. */
#include "sim/whatif/hours.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/state.h"
#include "sim/report/requirement.h"
#include "sim/simulate/simulate.h"
#include "sim/whatif/hours_internal.h"
#include "sim/when/future.h"

/* A side as futures take it. */
struct side {
    struct state *state;
    struct future_fact *facts;
    struct future_world world;
};

/* How often a requirement held, and where it did not. */
struct tally {
    uint32_t held;
    uint32_t broken_in;  // number of the first future, from 1; 0: none
    char broken[FINDING_MAX];
};

struct asking {
    struct hours *hours;
    const struct hours_question *question;
    struct side sides[_HOURS_SIDES];
    VEC(struct tally) tallies;  // by requirement
    struct err *err;
};

/* ---- The two sides. ---- */

/*
 * What is known of a workload that is on the other side as well is what is known there: run times are drawn from it, and
 * both sides draw the same. One that the change takes its place from has to begin anew.
 */
static void share_facts(struct side *with, const struct side *without)
{
    for (gang_id id = 0; id < with->state->gangs.len; id++) {
        const struct gang *gang = &with->state->gangs.items[id];
        gang_id other = gang->is_present ? state_find_gang(without->state, state_name(with->state, gang->namespace),
                                                           state_name(with->state, gang->name))
                                         : NO_ID;

        if (other == NO_ID)
            continue;
        with->facts[id] = without->facts[other];
        with->facts[id].is_undone = hours_gang_runs(&without->state->gangs.items[other]) && !hours_gang_runs(gang);
    }
}

static void set_world(struct asking *asking, enum hours_side which, const struct simulation *sim)
{
    struct side *side = &asking->sides[which];

    side->world = (struct future_world){
        .state = side->state,
        .config = &sim->config,
        .now = asking->hours->now,
        .grace = 30 * NSEC_PER_SEC,
        .usage = simulation_usage(sim),
        .history = asking->question->history,
        .facts = side->facts,
        .replicas = &sim->notes.found.replicas,
        .comes_to = asking->sides[HOURS_WITHOUT].state,
    };
}

static int make_sides(struct asking *asking)
{
    const struct hours_question *question = asking->question;
    const struct hours_cluster *base = &question->base;
    const struct hours_cluster *changed = question->extended.sim ? &question->extended : base;
    struct side *without = &asking->sides[HOURS_WITHOUT];
    struct side *with = &asking->sides[HOURS_WITH];

    state_settle(base->sim->state);
    state_settle(changed->sim->state);
    int r = whatif_apply(base->sim->state, NULL, 0, &without->state, asking->err);
    if (r >= 0)
        r = whatif_apply(changed->sim->state, question->changes, question->change_count, &with->state, asking->err);
    if (r < 0)
        return r;
    state_settle(without->state);
    state_settle(with->state);
    without->facts = when_facts(without->state, base->objects, asking->hours->now);
    with->facts = when_facts(with->state, changed->objects, asking->hours->now);
    share_facts(with, without);
    set_world(asking, HOURS_WITHOUT, base->sim);
    set_world(asking, HOURS_WITH, changed->sim);
    return 0;
}

static int check_basis(struct asking *asking)
{
    struct when_basis *basis = &asking->hours->basis;

    *basis = when_basis(&asking->sides[HOURS_WITHOUT].world);
    if (when_knows_enough(basis))
        return 0;
    return err_set(
        asking->err, -EINVAL,
        "there is not enough data for an estimate: %u of %u running workloads have neither a declared time limit nor a "
        "history; --history gives one",
        basis->unknown, basis->running);
}

/* ---- Pairs. ---- */

static int judge_pair(struct asking *asking, uint32_t number, const struct future_outcome pair[_HOURS_SIDES])
{
    struct requirements *list = asking->question->requirements;
    int r = requirements_judge(list, &pair[HOURS_WITHOUT].run, &pair[HOURS_WITH].run, asking->err);

    for (uint32_t i = 0; r >= 0 && i < list->found.len; i++) {
        const struct finding *finding = &list->found.items[i];
        struct tally *tally = &asking->tallies.items[i];

        tally->held += finding->holds;
        if (finding->holds || tally->broken_in != 0)
            continue;
        tally->broken_in = number + 1;
        (void)snprintf(tally->broken, sizeof tally->broken, "%s", finding->text);
    }
    return r;
}

static int play_pair(struct asking *asking, uint32_t number)
{
    struct future_outcome pair[_HOURS_SIDES];
    int played = 0;
    int r = 0;

    while (r >= 0 && played < _HOURS_SIDES) {
        int side = played++;

        r = future_play(&asking->sides[side].world, &asking->question->future, number, &pair[side], asking->err);
        if (r >= 0)
            hours_take_outcome(asking->hours, (enum hours_side)side, &pair[side].run);
    }
    if (r >= 0) {
        hours_compare_pair(asking->hours);
        r = judge_pair(asking, number, pair);
    }
    for (int side = 0; side < played; side++)
        future_outcome_done(&pair[side]);
    return r;
}

/* ---- The answer. ---- */

static void tell_tallies(struct asking *asking)
{
    struct requirements *list = asking->question->requirements;
    uint32_t futures = asking->hours->futures;

    for (uint32_t i = 0; i < list->found.len; i++) {
        const struct tally *tally = &asking->tallies.items[i];
        struct finding *finding = &list->found.items[i];

        finding->holds = (uint64_t)tally->held * 100 >= (uint64_t)HOURS_CONFIDENCE * futures;
        if (tally->broken_in == 0)
            (void)snprintf(finding->text, sizeof finding->text, "in all %u futures", futures);
        else
            (void)snprintf(finding->text, sizeof finding->text, "in %u of %u futures; not in number %u: %.400s",
                           tally->held, futures, tally->broken_in, tally->broken);
    }
}

static int play_all(struct asking *asking)
{
    const struct hours_question *question = asking->question;
    int r = 0;

    for (uint32_t i = 0; i < question->requirements->items.len; i++)
        vec_push(&asking->tallies, (struct tally){0});
    future_take_in_running(&asking->sides[HOURS_WITHOUT].world);
    for (uint32_t i = 0; i < question->futures && r >= 0; i++)
        r = play_pair(asking, i);
    return r;
}

int hours_ask(struct hours *hours, const struct hours_question *question, struct err *err)
{
    struct asking asking = {.hours = hours, .question = question, .err = err};

    *hours = (struct hours){
        .now = question->base.sim->start,
        .horizon = question->future.horizon,
        .seed = question->future.seed,
        .futures = question->futures,
    };
    arena_init(&hours->arena);
    strmap_init(&hours->by_name);
    strmap_init(&hours->by_queue);
    int r = make_sides(&asking);
    if (r >= 0)
        r = check_basis(&asking);
    for (int side = 0; side < _HOURS_SIDES && r >= 0; side++)
        hours_add_rows(hours, asking.sides[side].state, (enum hours_side)side);
    if (r >= 0)
        r = play_all(&asking);
    if (r >= 0) {
        hours_conclude(hours);
        tell_tallies(&asking);
    }
    for (int side = 0; side < _HOURS_SIDES; side++) {
        free(asking.sides[side].facts);
        state_free(asking.sides[side].state);
    }
    vec_done(&asking.tallies);
    return r;
}

void hours_done(struct hours *hours)
{
    for (uint32_t i = 0; i < hours->workloads.len; i++)
        for (int side = 0; side < _HOURS_SIDES; side++)
            vec_done(&hours->workloads.items[i]->sides[side].waits);
    vec_done(&hours->workloads);
    vec_done(&hours->queues);
    strmap_done(&hours->by_name);
    strmap_done(&hours->by_queue);
    arena_done(&hours->arena);
}
