/* SPDX-License-Identifier: Apache-2.0 */

/* Random deltas: each row of the table is something that happens to a cluster. */
#include "base/macros.h"
#include "model/queue.h"
#include "model/state.h"
#include "play.h"
#include "world_tables.h"

void play_tell(struct play *play, enum world_kind kind, uint32_t i)
{
    world_tell(&play->world, play->state, kind, i);
}

void play_tell_all(struct play *play, const struct world_changes *changes)
{
    for (enum world_kind kind = 0; kind < _WORLD_KIND_MAX; kind++)
        for (uint32_t i = 0; i < world_count(kind); i++)
            if (changes_have(changes, kind, i))
                play_tell(play, kind, i);
}

static void release_claim(struct world_claim *claim, uint32_t pod)
{
    uint64_t bit = UINT64_C(1) << pod % 64;

    if (!(claim->reserved[pod / 64] & bit))
        return;
    claim->reserved[pod / 64] &= ~bit;
    if (claim->reserved[0] == 0 && claim->reserved[1] == 0) {
        claim->is_allocated = false;
        claim->device_count = 0;
    }
}

static void release_claims(struct play *play, uint32_t i, bool is_gone)
{
    const struct world_pod *pod = &play->world.pods[i];

    for (uint32_t c = 0; c < pod->claim_count; c++) {
        struct world_claim *claim = &play->world.claims[pod->claims[c]];

        release_claim(claim, i);
        if (is_gone && !pod->is_claim_shared)
            claim->is_present = false;
        play_tell(play, KIND_CLAIM, pod->claims[c]);
    }
}

void play_pod_leaves(struct play *play, uint32_t i, enum pod_status status)
{
    struct world_pod *pod = &play->world.pods[i];

    release_claims(play, i, false);
    pod->status = status;
    pod->node = NOWHERE;
    pod->group_count = 0;
    pod->draw_count = 0;
    play_tell(play, KIND_POD, i);
}

/* The same by the short way, without telling all of the pod again. */
static void pod_waits(struct play *play, uint32_t i)
{
    struct world_pod *pod = &play->world.pods[i];
    pod_id id = state_find_pod(play->state, world_namespace(KIND_POD, i), world_name(KIND_POD, i));

    for (uint32_t c = 0; c < pod->claim_count; c++)
        release_claim(&play->world.claims[pod->claims[c]], i);
    pod->status = POD_PENDING;
    pod->node = NOWHERE;
    pod->group_count = 0;
    pod->draw_count = 0;
    state_move_pod(play->state, id, POD_PENDING, NO_ID, (struct group_list){0});
}

void play_pod_is_gone(struct play *play, uint32_t i)
{
    release_claims(play, i, true);
    play->world.pods[i].is_present = false;
    play_tell(play, KIND_POD, i);
}

static void pod_runs(struct play *play, uint32_t i, bool is_move)
{
    struct world_pod *pod = &play->world.pods[i];
    pod_id id = state_find_pod(play->state, world_namespace(KIND_POD, i), world_name(KIND_POD, i));

    pod->status = POD_RUNNING;
    if (is_move)
        state_move_pod(play->state, id, POD_RUNNING, play->state->pods.items[id].node,
                       play->state->pods.items[id].groups);
    else
        play_tell(play, KIND_POD, i);
}

void play_carry_out(struct play *play)
{
    for (uint32_t i = 0; i < WORLD_PODS; i++) {
        const struct world_pod *pod = &play->world.pods[i];

        if (pod->is_present && pod->status == POD_BINDING)
            pod_runs(play, i, i % 2);
        else if (pod->is_present && pod->status == POD_RELEASING && i % 3)
            pod_waits(play, i);
        else if (pod->is_present && pod->status == POD_RELEASING)
            play_pod_leaves(play, i, POD_PENDING);
    }
}

void play_name_groups(struct play *play)
{
    struct world *world = &play->world;

    for (uint32_t i = 0; i < WORLD_PODS; i++) {
        struct world_pod *pod = &world->pods[i];
        bool is_changed = false;

        for (uint32_t g = 0; pod->is_present && g < pod->group_count; g++) {
            if (!gpu_group_is_fresh(pod->groups[g]))
                continue;
            pod->groups[g] = 1 + (pod->groups[g] & ~GPU_GROUP_FRESH);
            is_changed = true;
        }
        if (is_changed)
            play_tell(play, KIND_POD, i);
    }
}

/* Something happens. False: there was nothing that it could happen to. */
typedef bool (*change_fn)(struct play *play, struct chance *chance);

static bool gang_comes(struct play *play, struct chance *chance)
{
    struct world_changes changes = {0};
    uint32_t i = world_free_slot(&play->world, KIND_GANG, draw(chance, 2));

    if (i == NOWHERE)
        return false;
    make_gang(&play->world, chance, i, &changes);
    /* Pods that an earlier gang of this name left behind are in its sets now. */
    for (uint32_t p = 0; p < WORLD_PODS; p++)
        if (play->world.pods[p].is_present && play->world.pods[p].gang == i)
            changes_mark(&changes, KIND_POD, p);
    play_tell_all(play, &changes);
    return true;
}

/* What is left of its pods belongs to a gang that is not there. */
static bool gang_goes(struct play *play, struct chance *chance)
{
    uint32_t i = world_pick(&play->world, chance, KIND_GANG);
    bool leaves_pods = one_in(chance, 6);

    if (i == NOWHERE)
        return false;
    for (uint32_t p = 0; p < WORLD_PODS; p++)
        if (play->world.pods[p].is_present && play->world.pods[p].gang == i && !leaves_pods)
            play_pod_is_gone(play, p);
    play->world.gangs[i].is_present = false;
    play_tell(play, KIND_GANG, i);
    return true;
}

static bool gang_ends(struct play *play, struct chance *chance)
{
    uint32_t i = world_pick(&play->world, chance, KIND_GANG);

    for (uint32_t p = 0; p < WORLD_PODS; p++)
        if (play->world.pods[p].is_present && play->world.pods[p].gang == i &&
            play->world.pods[p].status == POD_RUNNING)
            play_pod_leaves(play, p, POD_SUCCEEDED);
    return i != NOWHERE;
}

static bool gang_changes(struct play *play, struct chance *chance)
{
    uint32_t i = world_pick(&play->world, chance, KIND_GANG);

    if (i == NOWHERE)
        return false;
    struct world_gang *gang = &play->world.gangs[i];
    if (draw(chance, 2))
        make_gang_fields(&play->world, chance, i);
    else
        gang->mins[draw(chance, tree_shapes[gang->tree].count)] = (uint8_t)draw(chance, 4);
    play_tell(play, KIND_GANG, i);
    return true;
}

static bool pod_comes(struct play *play, struct chance *chance)
{
    struct world_changes changes = {0};
    uint32_t like = world_pick(&play->world, chance, KIND_POD);

    if (like == NOWHERE || play->world.pods[like].gang == NOWHERE)
        return false;
    uint32_t set = play->world.pods[like].set + (one_in(chance, 8) ? 5 : 0);
    (void)make_pod(&play->world, chance, play->world.pods[like].gang, set, like, &changes);
    play_tell_all(play, &changes);
    return true;
}

static bool pod_ends(struct play *play, struct chance *chance)
{
    static const enum pod_status ends[] = {POD_SUCCEEDED, POD_FAILED, POD_PENDING, POD_PENDING};
    uint32_t i = world_pick(&play->world, chance, KIND_POD);
    enum pod_status end = ends[draw(chance, ARRAY_LEN(ends))];

    if (i == NOWHERE || play->world.pods[i].gang == NOWHERE)
        return false;
    play_pod_leaves(play, i, end);
    return true;
}

static bool pod_goes(struct play *play, struct chance *chance)
{
    uint32_t i = world_pick(&play->world, chance, KIND_POD);

    if (i == NOWHERE)
        return false;
    play_pod_is_gone(play, i);
    return true;
}

/* Being deleted, stuck, of unknown state, running after all: where it is it stays. */
static bool pod_turns(struct play *play, struct chance *chance)
{
    static const enum pod_status placed[] = {POD_BOUND, POD_RUNNING, POD_RELEASING,
                                             POD_STUCK, POD_UNKNOWN, POD_RUNNING};
    static const enum pod_status waiting[] = {POD_PENDING, POD_GATED, POD_PENDING};
    uint32_t i = world_pick(&play->world, chance, KIND_POD);
    uint32_t one = draw(chance, ARRAY_LEN(placed));
    uint32_t other = draw(chance, ARRAY_LEN(waiting));

    if (i == NOWHERE || !(play->world.theme & THEME_TROUBLES))
        return false;
    struct world_pod *pod = &play->world.pods[i];
    if (pod->node == NOWHERE && status_in(pod->status, 1 << POD_PENDING | 1 << POD_GATED))
        pod->status = (uint8_t)waiting[other];
    else if (pod->node != NOWHERE)
        pod->status = (uint8_t)placed[one];
    play_tell(play, KIND_POD, i);
    return true;
}

static bool pod_changes(struct play *play, struct chance *chance)
{
    uint32_t i = world_pick(&play->world, chance, KIND_POD);

    if (i == NOWHERE)
        return false;
    struct world_pod *pod = &play->world.pods[i];
    pod->app = (uint8_t)draw(chance, 4);
    pod->task_priority = (int32_t)draw(chance, 3);
    pod->nominated = one_in(chance, 3) ? (uint8_t)draw(chance, WORLD_NODES) : NOWHERE;
    play_tell(play, KIND_POD, i);
    return true;
}

static bool bare_pod_comes(struct play *play, struct chance *chance)
{
    struct world_changes changes = {0};
    uint32_t node = draw(chance, WORLD_NODES);

    if (!(play->world.theme & THEME_TROUBLES))
        return false;
    (void)make_bare_pod(&play->world, chance, node, &changes);
    play_tell_all(play, &changes);
    return true;
}

static bool some_run(struct play *play, struct chance *chance)
{
    for (uint32_t i = 0; i < WORLD_PODS; i++) {
        uint32_t what = draw(chance, 8);
        struct world_pod *pod = &play->world.pods[i];

        if (!pod->is_present || pod->status != POD_BINDING || what < 2)
            continue;
        if (what == 7)
            pod_waits(play, i);  // could not be bound
        else
            pod_runs(play, i, what % 2);
    }
    return true;
}

static bool some_leave(struct play *play, struct chance *chance)
{
    for (uint32_t i = 0; i < WORLD_PODS; i++) {
        uint32_t what = draw(chance, 10);
        struct world_pod *pod = &play->world.pods[i];

        if (!pod->is_present || pod->status != POD_RELEASING || what < 2)
            continue;
        if (what == 9)
            pod_runs(play, i, false);  // could not be evicted
        else if (what == 8 || pod->gang == NOWHERE)
            play_pod_is_gone(play, i);
        else
            play_pod_leaves(play, i, POD_PENDING);
    }
    return true;
}

static bool groups_get_names(struct play *play, struct chance *chance)
{
    (void)chance;
    play_name_groups(play);
    return true;
}

static bool node_comes(struct play *play, struct chance *chance)
{
    uint32_t i = draw(chance, WORLD_NODES);

    if (play->world.nodes[i].is_present && draw(chance, 2))
        return false;
    make_node(&play->world, chance, i);
    play_tell(play, KIND_NODE, i);
    return true;
}

/* Its pods stay for a while, as they do in a cluster. */
static bool node_goes(struct play *play, struct chance *chance)
{
    uint32_t i = world_pick(&play->world, chance, KIND_NODE);
    bool takes_pods = draw(chance, 2);

    if (i == NOWHERE)
        return false;
    play->world.nodes[i].is_present = false;
    play_tell(play, KIND_NODE, i);
    for (uint32_t p = 0; p < WORLD_PODS && takes_pods; p++)
        if (play->world.pods[p].is_present && play->world.pods[p].node == i)
            play_pod_is_gone(play, p);
    return true;
}

static bool node_turns(struct play *play, struct chance *chance)
{
    uint32_t i = world_pick(&play->world, chance, KIND_NODE);

    if (i == NOWHERE)
        return false;
    play->world.nodes[i].troubles = play->world.nodes[i].troubles ? 0 : 1u << draw(chance, 6);
    play_tell(play, KIND_NODE, i);
    return true;
}

static bool node_changes(struct play *play, struct chance *chance)
{
    uint32_t i = world_pick(&play->world, chance, KIND_NODE);

    if (i == NOWHERE)
        return false;
    struct world_node before = play->world.nodes[i];
    struct world_node *node = &play->world.nodes[i];
    uint32_t part = draw(chance, 4);
    make_node(&play->world, chance, i);
    struct world_node after = *node;
    *node = before;
    if (part == 0)
        node->shape = after.shape;
    else if (part == 1)
        node->taints = after.taints;
    else if (part == 2)
        node->numa = after.numa;
    else {
        node->zone = after.zone;
        node->rack = after.rack;
        node->pool = after.pool;
    }
    play_tell(play, KIND_NODE, i);
    return true;
}

static bool queue_comes(struct play *play, struct chance *chance)
{
    uint32_t i = draw(chance, WORLD_QUEUES);

    make_queue(&play->world, chance, i);
    play_tell(play, KIND_QUEUE, i);
    return true;
}

static bool queue_goes(struct play *play, struct chance *chance)
{
    uint32_t i = world_pick(&play->world, chance, KIND_QUEUE);

    if (i == NOWHERE)
        return false;
    play->world.queues[i].is_present = false;
    play_tell(play, KIND_QUEUE, i);
    return true;
}

static bool queue_changes(struct play *play, struct chance *chance)
{
    uint32_t i = world_pick(&play->world, chance, KIND_QUEUE);

    if (i == NOWHERE)
        return false;
    make_queue_amounts(&play->world, chance, i);
    play_tell(play, KIND_QUEUE, i);
    return true;
}

static bool usage_changes(struct play *play, struct chance *chance)
{
    uint32_t i = world_pick(&play->world, chance, KIND_QUEUE);

    if (i == NOWHERE || !(play->world.theme & THEME_SETTINGS))
        return false;
    for (int r = 0; r < SHARE_COUNT; r++)
        play->world.queues[i].usage[r] = draw(chance, 8) / 10.0;
    state_set_usage(play->state, world_name(KIND_QUEUE, i), play->world.queues[i].usage);
    return true;
}

static bool claim_goes(struct play *play, struct chance *chance)
{
    uint32_t i = world_pick(&play->world, chance, KIND_CLAIM);

    if (i == NOWHERE || draw(chance, 2))
        return false;
    play->world.claims[i].is_present = false;
    play_tell(play, KIND_CLAIM, i);
    return true;
}

static bool thing_changes(struct play *play, struct chance *chance)
{
    struct world *world = &play->world;
    uint32_t which = draw(chance, 5);
    static const enum world_kind kinds[] = {KIND_SLICE, KIND_VOLUME, KIND_MAP, KIND_TOPOLOGY, KIND_CLASS};
    uint32_t i = draw(chance, world_count(kinds[which]));

    if (which == 0)
        make_slice(world, chance, i);
    else if (which == 1)
        make_volume(world, chance, i);
    else if (which == 2)
        world->has_map[i] = !world->has_map[i];
    else if (which == 3)
        world->has_topology[i] = !world->has_topology[i];
    else
        world->has_class[i] = !world->has_class[i];
    play_tell(play, kinds[which], i);
    return true;
}

/* An object is said again, unchanged. */
static bool nothing_changes(struct play *play, struct chance *chance)
{
    enum world_kind kind = draw(chance, _WORLD_KIND_MAX);

    play_tell(play, kind, draw(chance, world_count(kind)));
    return true;
}

/* Settled without a cycle: what changed must not be lost on the engine. */
static bool state_is_settled(struct play *play, struct chance *chance)
{
    (void)chance;
    state_settle(play->state);
    return true;
}

static bool time_passes(struct play *play, struct chance *chance)
{
    static const nsec_t spans[] = {NSEC_PER_SEC, 20 * NSEC_PER_SEC, 3 * NSEC_PER_MIN};

    play->world.now += spans[draw(chance, ARRAY_LEN(spans))];
    return true;
}

static const struct change_row {
    const char *name;
    change_fn change;
    uint32_t weight;
} changes[] = {
    {"gang comes", gang_comes, 12},
    {"gang goes", gang_goes, 3},
    {"gang ends", gang_ends, 2},
    {"gang changes", gang_changes, 5},
    {"pod comes", pod_comes, 5},
    {"pod ends", pod_ends, 5},
    {"pod goes", pod_goes, 3},
    {"pod turns", pod_turns, 4},
    {"pod changes", pod_changes, 2},
    {"bare pod comes", bare_pod_comes, 2},
    {"some run", some_run, 12},
    {"some leave", some_leave, 12},
    {"groups get names", groups_get_names, 4},
    {"node comes", node_comes, 3},
    {"node goes", node_goes, 2},
    {"node turns", node_turns, 3},
    {"node changes", node_changes, 3},
    {"queue comes", queue_comes, 2},
    {"queue goes", queue_goes, 1},
    {"queue changes", queue_changes, 5},
    {"usage changes", usage_changes, 1},
    {"claim goes", claim_goes, 1},
    {"thing changes", thing_changes, 3},
    {"nothing changes", nothing_changes, 4},
    {"state is settled", state_is_settled, 3},
    {"time passes", time_passes, 6},
};

void play_change(struct play *play, struct chance *chance)
{
    uint32_t total = 0;

    for (uint32_t i = 0; i < ARRAY_LEN(changes); i++)
        total += changes[i].weight;
    uint32_t left = draw(chance, total);
    uint32_t i = 0;
    for (; left >= changes[i].weight; i++)
        left -= changes[i].weight;
    play_say(play, "%s", changes[i].name);
    if (!changes[i].change(play, chance))
        play_say(play, "  not possible");
}
