/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A cycle, by the engine that was kept and by a new one over a state that is made from the world: both must agree in
 * everything. The decisions become part of the world as they would in a cluster.
 */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "check.h"
#include "dump_engine.h"
#include "engine/context.h"
#include "engine/reasons/explain.h"
#include "image.h"
#include "model/state.h"
#include "model/test/dump.h"
#include "play.h"

enum { DIFFERENCE_TEXT = 2048 };

typedef char *(*dump_fn)(const struct engine *engine, const struct state *state);

static void compare(const struct play *play, const char *what, char *kept, char *anew)
{
    char difference[DIFFERENCE_TEXT];

    if (texts_differ(kept, anew, difference))
        play_fail(play, what, "kept and made anew:%s", difference);
    free(kept);
    free(anew);
}

/* The same, and it becomes part of the outcome. */
static void compare_outcome(struct play *play, const char *what, char *kept, char *anew)
{
    for (const char *at = kept; *at; at++)
        play->outcome = (play->outcome ^ (unsigned char)*at) * UINT64_C(1099511628211);
    compare(play, what, kept, anew);
}

static void compare_states(const struct play *play, const char *what, const struct state *anew)
{
    compare(play, what, dump_state(play->state, true), dump_state(anew, true));
}

/* GPUs of pods that share but tell none get numbers when the state is settled: the world takes them over. */
static void adopt_groups(struct play *play)
{
    for (uint32_t i = 0; i < WORLD_PODS; i++) {
        struct world_pod *pod = &play->world.pods[i];
        pod_id id = state_find_pod(play->state, world_namespace(KIND_POD, i), world_name(KIND_POD, i));

        if (!pod->is_present || pod->group_count > 0)
            continue;
        const struct group_list *groups = &play->state->pods.items[id].groups;
        pod->group_count = (uint8_t)groups->count;
        for (uint32_t g = 0; g < groups->count; g++)
            pod->groups[g] = group_at(groups, g);
    }
}

static void begin(struct cycle *cycle, struct play *play)
{
    const struct state *state = play->state;

    *cycle = (struct cycle){.play = play, .before = play->world};
    room_count(&play->world, &cycle->room);
    memset(cycle->promised, NOWHERE, sizeof cycle->promised);
    vec_resize(&cycle->pod_of, state->pods.len + 1);
    vec_resize(&cycle->gang_of, state->gangs.len + 1);
    memset(cycle->pod_of.items, NOWHERE, cycle->pod_of.len);
    memset(cycle->gang_of.items, NOWHERE, cycle->gang_of.len);
    for (uint32_t i = 0; i < WORLD_PODS; i++) {
        pod_id id = state_find_pod(state, world_namespace(KIND_POD, i), world_name(KIND_POD, i));
        if (id != NO_ID)
            cycle->pod_of.items[id] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < WORLD_GANGS; i++) {
        gang_id id = state_find_gang(state, world_namespace(KIND_GANG, i), world_name(KIND_GANG, i));
        if (id != NO_ID)
            cycle->gang_of.items[id] = (uint8_t)i;
    }
    for (uint32_t q = 0; q < WORLD_QUEUES; q++) {
        queue_id id = state_find_queue(state, world_name(KIND_QUEUE, q));
        if (id == NO_ID)
            continue;
        cycle->allocated[q] = state->queues.items[id].allocated;
        cycle->fixed[q] = state->queues.items[id].allocated_fixed;
    }
}

static void end(struct cycle *cycle)
{
    vec_done(&cycle->pod_of);
    vec_done(&cycle->gang_of);
}

static uint8_t node_index(const struct play *play, node_id node)
{
    const char *name = state_name(play->state, play->state->nodes.items[node].name);

    for (uint32_t i = 0; i < WORLD_NODES; i++)
        if (strcmp(world_name(KIND_NODE, i), name) == 0)
            return (uint8_t)i;
    BUG_ON(true);
}

/* A group that has a name in the state, as the world writes it. */
static gpu_group group_number(const struct state *state, gpu_group group)
{
    if (gpu_group_is_fresh(group))
        return group;
    return strtoull(state_name(state, (name_id)group) + strlen("gpu"), NULL, 10);
}

static void copy_text(char to[static WORLD_TEXT], const char *from)
{
    (void)snprintf(to, WORLD_TEXT, "%s", from);
}

static void copy_claims(struct play *play, uint32_t i, pod_id id)
{
    const struct state *state = play->state;
    const struct pod *from = &state->pods.items[id];

    for (uint32_t c = 0; c < from->claim_count; c++) {
        const struct claim *claim = from->claims[c].claim == NO_ID ? NULL : &state->claims.items[from->claims[c].claim];
        struct world_claim *to = &play->world.claims[play->world.pods[i].claims[c]];

        if (!claim || !play->config.has[PLUGIN_DYNAMIC_RESOURCES])
            continue;
        to->reserved[i / 64] |= UINT64_C(1) << i % 64;
        if (to->is_allocated || !claim->is_allocated)
            continue;
        to->is_allocated = true;
        to->device_count = (uint8_t)claim->device_count;
        for (uint32_t d = 0; d < claim->device_count; d++) {
            copy_text(to->devices[d].driver, state_name(state, claim->devices[d].driver));
            copy_text(to->devices[d].pool, state_name(state, claim->devices[d].pool));
            copy_text(to->devices[d].name, state_name(state, claim->devices[d].name));
        }
    }
}

static void follow_bind(struct play *play, uint32_t i, const struct decision *decision)
{
    const struct state *state = play->state;
    const struct pod *from = &state->pods.items[decision->pod];
    struct world_pod *pod = &play->world.pods[i];

    BUG_ON(from->groups.count > WORLD_DEVICES || (from->numa && from->numa->count > WORLD_DRAWS));
    pod->status = POD_BINDING;
    pod->node = node_index(play, decision->node);
    pod->group_count = (uint8_t)from->groups.count;
    for (uint32_t g = 0; g < from->groups.count; g++)
        pod->groups[g] = group_number(state, group_at(&from->groups, g));
    pod->draw_count = from->numa ? (uint8_t)from->numa->count : 0;
    for (uint32_t d = 0; d < pod->draw_count; d++) {
        copy_text(pod->draws[d].zone, state_name(state, from->numa->draws[d].zone));
        copy_text(pod->draws[d].resource, state_name(state, state->res.name[from->numa->draws[d].dim]));
        pod->draws[d].amount = from->numa->draws[d].amount;
    }
    copy_claims(play, i, decision->pod);
}

static void note_eviction(struct cycle *cycle, const struct decision *decisions, size_t at, size_t count)
{
    const struct decision *one = &decisions[at];
    struct eviction eviction = {
        .cycle = cycle->play->cycles,
        .action = one->action,
        .pod = cycle->pod_of.items[one->pod],
        .taker = one->on_behalf == NO_ID ? NOWHERE : cycle->gang_of.items[one->on_behalf],
    };

    for (size_t d = at + 1; d < count; d++)
        eviction.is_moved |= decisions[d].kind == DECISION_PIPELINE && decisions[d].pod == one->pod;
    vec_push(&cycle->play->evictions, eviction);
}

/* What the decisions from `first` on mean for the world. Promises mean nothing. */
static void follow(struct cycle *cycle, const struct decision *decisions, size_t first, size_t count)
{
    struct play *play = cycle->play;

    for (size_t d = first; d < count; d++) {
        uint32_t i = cycle->pod_of.items[decisions[d].pod];

        BUG_ON(i == NOWHERE);
        play->tally->kinds[decisions[d].action][decisions[d].kind]++;
        if (decisions[d].kind == DECISION_BIND) {
            follow_bind(play, i, &decisions[d]);
            cycle->is_bound[i] = true;
        } else if (decisions[d].kind == DECISION_EVICT) {
            /* One that was only promised a place goes on waiting. */
            if (play->world.pods[i].node != NOWHERE)
                play->world.pods[i].status = POD_RELEASING;
            cycle->is_leaving[i] = true;
            note_eviction(cycle, decisions, d, count);
        } else {
            cycle->is_leaving[i] = false;
            cycle->promised[i] = node_index(play, decisions[d].node);
        }
    }
}

static void follow_times(struct play *play)
{
    for (uint32_t i = 0; i < WORLD_GANGS; i++) {
        gang_id id = state_find_gang(play->state, world_namespace(KIND_GANG, i), world_name(KIND_GANG, i));
        struct world_gang *gang = &play->world.gangs[i];

        if (!gang->is_present)
            continue;
        gang->last_start = play->state->gangs.items[id].last_start;
        gang->last_eviction = play->state->gangs.items[id].last_eviction;
        gang->stale_since = play->state->gangs.items[id].stale_since;
    }
}

static void print_decisions(const struct play *play)
{
    char *text = dump_decisions(play->engine, play->state);

    printf("%s\n", text);
    free(text);
}

/* An action; one that decides nothing leaves nothing behind. */
static void run_action(struct cycle *cycle, struct engine *anew, const struct state *state, enum action action)
{
    struct play *play = cycle->play;
    struct image before;
    size_t first;
    size_t count;

    (void)engine_decisions(play->engine, &first);
    image_take(&before, play->state);
    engine_run(play->engine, action);
    engine_run(anew, action);
    const struct decision *decisions = engine_decisions(play->engine, &count);
    compare_outcome(play, "decisions", dump_decisions(play->engine, play->state), dump_decisions(anew, state));
    /* Stale gangs are marked, which is no decision. */
    if (count == first && action != ACTION_STALE_GANG)
        check_image(play, &before, action_name(action));
    image_done(&before);
    if (play->is_loud && count > first)
        print_decisions(play);
    check_victims(cycle, decisions, first, count);
    follow(cycle, decisions, first, count);
    if (action == ACTION_ALLOCATE)
        check_gangs(cycle, decisions, first, count);
}

static void check_explanations(struct play *play)
{
    struct image before;

    image_take(&before, play->state);
    for (gang_id id = 0; id < play->state->gangs.len; id++) {
        struct explanation explanation;
        if (!play->state->gangs.items[id].is_present || play->state->gangs.items[id].pending == 0)
            continue;
        explain(play->engine, id, &explanation);
        explanation_done(&explanation);
    }
    check_image(play, &before, "explaining");
    image_done(&before);
}

size_t play_cycle(struct play *play, struct chance *chance, const enum action *actions, uint32_t count)
{
    struct cycle cycle;
    size_t decided;
    bool explains = one_in(chance, 4);

    engine_take_in(play->engine);
    adopt_groups(play);
    struct state *state = world_load(&play->world, chance, play->state->fresh_groups);
    struct engine *anew = engine_new(state, &play->config);
    anew->checks_rehearsals = true;
    engine_take_in(anew);
    compare_states(play, "state", state);

    begin(&cycle, play);
    check_queue_books(&cycle);
    engine_open(play->engine, play->world.now);
    engine_open(anew, play->world.now);
    compare_outcome(play, "shares", dump_shares(play->engine, play->state), dump_shares(anew, state));
    if (play->watch)
        play->watch->on_cycle_begin(play->watch->arg, play);
    for (uint32_t i = 0; i < count; i++)
        run_action(&cycle, anew, state, actions[i]);
    if (play->watch)
        play->watch->on_cycle_end(play->watch->arg, play, actions, count);
    /* Other actions only add to what allocate says. */
    if (actions[0] == ACTION_ALLOCATE)
        compare_outcome(play, "verdicts", dump_verdicts(play->engine, play->state), dump_verdicts(anew, state));
    compare_states(play, "state after actions", state);
    if (explains)
        check_explanations(play);
    check_queues(&cycle);
    follow_times(play);
    check_room(&cycle);
    check_places(&cycle);
    check_devices(&cycle);
    (void)engine_decisions(play->engine, &decided);
    engine_close(play->engine);
    end(&cycle);
    engine_free(anew);
    state_free(state);
    play->cycles++;
    play->tally->cycles++;
    return decided;
}
