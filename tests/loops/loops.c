/* SPDX-License-Identifier: Apache-2.0 */

/*
 * All small worlds, one after the other: does the engine come to rest in each while nobody submits and nothing ends?
 * loops [WORKLOADS [LARGEST [TRACED]]]
 *
 * A world is four GPUs on equal nodes, three queues with quotas, and workloads of up to LARGEST GPUs that arrive one by one.
 * After each arrival cycles are run until one decides nothing; evicted pods wait again. A world that still evicts after
 * CYCLES_MAX cycles is an eviction loop. The potential of docs/design/reclaim.md is compared from cycle to cycle.
 * TRACED is the number of a world whose cycles are printed, with those of the reported loops.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macros.h"
#include "engine/engine.h"
#include "model/state.h"
#include "world.h"

enum { GPUS = 4, QUEUES = 3, SMALL_MAX = 5, LARGEST_MAX = 4, CYCLES_MAX = 64, SHOWN = 5 };

/* What queues hold within their quotas, and within the shares that others may not take from. */
struct potential {
    double in_quota;
    double in_share;
};

struct play {
    const struct world *world;
    struct state *state;
    struct engine *engine;
    bool is_traced;
    uint32_t evictions;
};

static struct {
    uint64_t worlds;
    uint64_t cycles;
    uint64_t evictions;
    uint64_t evicting;  // worlds with an eviction
    uint64_t most;      // evictions behind one arrival
    uint64_t loops;
    uint64_t uniform;  // worlds whose workloads have one size
    uint64_t falls;    // cycles that reclaim in those, and do not raise the potential
    uint64_t other_falls;
} tally;

/* With what is promised: between the actions of a cycle and engine_close. */
static struct potential potential_of(const struct play *play)
{
    const struct state *state = play->state;
    struct potential sum = {0};
    double held[QUEUES_MAX] = {0};

    vec_foreach (&state->pods, pod)
        if (pod->is_present && status_in(pod->status, ACTIVE_ALLOCATED))
            held[state->gangs.items[pod->gang].queue] +=
                gpu_to_double(state_request(state, (pod_id)(pod - state->pods.items))->gpus);
    for (queue_id id = 0; id < state->queues.len; id++) {
        double quota = state->queues.items[id].deserved[SHARE_GPU];
        double share = MAX(quota, engine_share(play->engine, id).fair[SHARE_GPU]);

        sum.in_quota += MIN(held[id], quota);
        sum.in_share += MIN(held[id], share);
    }
    return sum;
}

static bool is_less(const struct potential *a, const struct potential *b)
{
    const double least = 1e-9;

    if (a->in_quota + least < b->in_quota || a->in_quota > b->in_quota + least)
        return a->in_quota < b->in_quota;
    return a->in_share + least < b->in_share;
}

static void trace_cycle(const struct play *play, const struct potential *potential)
{
    const struct state *state = play->state;
    size_t count;
    const struct decision *decisions = engine_decisions(play->engine, &count);

    printf("# in quota %g, in share %g;", potential->in_quota, potential->in_share);
    for (queue_id id = 0; id < state->queues.len; id++) {
        struct queue_share share = engine_share(play->engine, id);

        printf(" %s %g of %g,", state_name(state, state->queues.items[id].name), share.allocated[SHARE_GPU],
               share.fair[SHARE_GPU]);
    }
    for (size_t i = 0; i < count; i++)
        printf(" %s %s (%s)", decision_kind_name(decisions[i].kind),
               state_name(state, state->pods.items[decisions[i].pod].name), action_name(decisions[i].action));
    printf("\n");
}

/* What was decided has happened: bound pods run, evicted ones wait again. */
static void carry_out(struct state *state)
{
    static const struct group_list none = {0};

    for (pod_id id = 0; id < state->pods.len; id++) {
        const struct pod *pod = &state->pods.items[id];

        if (pod->status == POD_RELEASING)
            state_move_pod(state, id, POD_PENDING, NO_ID, none);
        else if (pod->status == POD_BINDING)
            state_move_pod(state, id, POD_RUNNING, pod->node, pod->groups);
    }
}

/* Returns whether the cycle decided anything. */
static bool run_cycle(struct play *play, const struct config *config, struct potential *ret_before,
                      struct potential *ret)
{
    size_t count;
    size_t decided = 0;

    engine_take_in(play->engine);
    engine_open(play->engine, WORLD_NOW);
    *ret_before = potential_of(play);
    for (uint32_t i = 0; i < config->action_count; i++)
        engine_run(play->engine, config->actions[i]);
    *ret = potential_of(play);
    const struct decision *decisions = engine_decisions(play->engine, &count);
    for (size_t i = 0; i < count; i++) {
        decided += decisions[i].kind != DECISION_PIPELINE;
        play->evictions += decisions[i].kind == DECISION_EVICT && decisions[i].action == ACTION_RECLAIM;
    }
    if (play->is_traced)
        trace_cycle(play, ret);
    engine_close(play->engine);
    carry_out(play->state);
    tally.cycles++;
    return decided > 0;
}

static bool is_uniform(const struct world *world, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (world->workloads[i].is_gang || world->workloads[i].gpus != world->workloads[0].gpus)
            return false;
    return true;
}

static void print_world(const struct world *world, const char *what)
{
    if (world->name)
        printf("# %s, issue %s:", what, world->name);
    else
        printf("# %s, world %" PRIu64 ":", what, tally.worlds);
    printf(" %u nodes of %u GPUs, quotas", world->nodes, world->node_gpus);
    for (uint32_t i = 0; i < world->queue_count; i++)
        printf(" %g", world->queues[i].quota);
    printf(", workloads");
    for (uint32_t i = 0; i < world->count; i++)
        printf(" q%u:%u%s", world->workloads[i].queue, world->workloads[i].gpus,
               world->workloads[i].is_gang ? "x1" : "");
    printf("\n");
}

/* Cycles until one decides nothing. Returns false when they do not end. */
static bool settle(struct play *play, const struct config *config, bool is_one_size)
{
    struct potential last = {0};

    for (uint32_t cycle = 0; cycle < CYCLES_MAX; cycle++) {
        struct potential before;
        struct potential now;
        uint32_t evictions = play->evictions;
        bool goes_on = run_cycle(play, config, &before, &now);

        /* Later cycles bind what was promised before: what they find is less than what the one before left. */
        last = cycle == 0 ? before : last;
        if (!play->world->name && play->evictions > evictions && !is_less(&last, &now)) {
            tally.falls += is_one_size;
            tally.other_falls += !is_one_size;
            if (is_one_size && tally.falls <= SHOWN)
                print_world(play->world, "the potential did not rise");
        }
        if (!goes_on)
            return true;
        last = now;
    }
    return false;
}

/* Returns whether it came to rest behind each arrival. */
static bool play_world(const struct world *world, const struct config *config, bool is_traced)
{
    struct play play = {.world = world, .state = world_begin(world), .is_traced = is_traced};
    bool is_settled = true;

    play.engine = engine_new(play.state, config);
    if (is_traced)
        print_world(world, "traced");
    for (uint32_t i = 0; i < world->count && is_settled; i++) {
        uint32_t before = play.evictions;

        world_submit(play.state, i, &world->workloads[i]);
        is_settled = settle(&play, config, is_uniform(world, i + 1));
        tally.most = MAX(tally.most, (uint64_t)(play.evictions - before));
    }
    tally.evictions += play.evictions;
    tally.evicting += play.evictions > 0;
    tally.uniform += is_uniform(world, world->count);
    tally.loops += !is_settled;
    if (!is_settled && tally.loops <= SHOWN)
        print_world(world, "a loop");
    engine_free(play.engine);
    state_free(play.state);
    return is_settled;
}

/* All workloads that a world may have at place `at` and behind it. */
static void play_all(struct world *world, uint32_t at, uint32_t largest, const struct config *config, uint64_t traced)
{
    if (at == world->count) {
        tally.worlds++;
        if (traced == 0 || tally.worlds == traced)
            play_world(world, config, traced > 0);
        return;
    }
    for (uint32_t queue = 0; queue < QUEUES; queue++)
        for (uint32_t gpus = 1; gpus <= largest; gpus++)
            for (int is_gang = 0; is_gang <= (gpus > 1 && world->node_gpus < GPUS); is_gang++) {
                world->workloads[at] = (struct workload){queue, gpus, is_gang};
                if (gpus <= world->node_gpus || is_gang)
                    play_all(world, at + 1, largest, config, traced);
            }
}

static uint32_t number(int argc, char **argv, int at, uint32_t by_default, uint32_t most)
{
    unsigned long given = argc > at ? strtoul(argv[at], NULL, 10) : by_default;

    return (uint32_t)CLAMP(given, 1ul, (unsigned long)most);
}

static bool play_reported(const struct config *config, bool is_traced)
{
    bool is_settled = true;

    for (size_t i = 0; i < reported_count; i++)
        is_settled &= play_world(&reported[i], config, is_traced);
    return is_settled;
}

static void play_small(struct world *world, uint32_t largest, const struct config *config, uint64_t traced)
{
    world->queue_count = QUEUES;
    for (world->node_gpus = GPUS; world->node_gpus > 1; world->node_gpus /= 2)
        for (int a = 0; a <= GPUS; a++)
            for (int b = 0; b <= a && a + b <= GPUS; b++)
                for (int c = 0; c <= b && a + b + c <= GPUS; c++) {
                    world->nodes = GPUS / world->node_gpus;
                    world->queues[0] = (struct queue_row){NO_PARENT, a};
                    world->queues[1] = (struct queue_row){NO_PARENT, b};
                    world->queues[2] = (struct queue_row){NO_PARENT, c};
                    play_all(world, 0, largest, config, traced);
                }
}

static void report(int number, bool is_fine, const char *sentence)
{
    printf("%s %d - %s\n", is_fine ? "ok" : "not ok", number, sentence);
}

int main(int argc, char **argv)
{
    struct world world = {.count = number(argc, argv, 1, 3, SMALL_MAX)};
    uint32_t largest = number(argc, argv, 2, 3, LARGEST_MAX);
    uint64_t traced = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    struct config config;

    config_init(&config);
    play_small(&world, largest, &config, traced);
    printf("# %" PRIu64 " worlds, %" PRIu64 " with %" PRIu64 " evictions by reclaim, at most %" PRIu64
           " behind one arrival; %" PRIu64 " cycles\n",
           tally.worlds, tally.evicting, tally.evictions, tally.most, tally.cycles);
    printf("# %" PRIu64 " of one size; the potential did not rise %" PRIu64 " times there, %" PRIu64
           " times elsewhere\n",
           tally.uniform, tally.falls, tally.other_falls);
    report(1, tally.loops == 0, "every small world comes to rest");
    report(2, tally.falls == 0, "with workloads of one size each reclaim raises the potential");
    report(3, tally.evictions > 0, "workloads were evicted");
    report(4, play_reported(&config, traced > 0), "worlds with loops that were reported for Kueue come to rest");
    printf("1..4\n");
    return tally.loops > 0 || tally.falls > 0 || tally.evictions == 0;
}
