/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A cluster that nobody changes: bound pods run, evicted ones end and wait again, time passes. After some cycles nothing
 * is decided any more. A state of the pods that comes back, with evictions on the way, would come back for ever.
 */
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "model/state.h"
#include "play.h"
#include "world_tables.h"

enum { SETTLE_CYCLES = 40, QUIET_CYCLES = 2, LAST_CYCLES = 20 };

static const enum action all_actions[] = {ACTION_ALLOCATE, ACTION_CONSOLIDATION, ACTION_RECLAIM, ACTION_PREEMPT,
                                          ACTION_STALE_GANG};

/* Where every pod is. */
struct picture {
    uint8_t node[WORLD_PODS];
};

static struct picture take_picture(const struct world *world)
{
    struct picture picture;

    for (uint32_t i = 0; i < WORLD_PODS; i++)
        picture.node[i] = world->pods[i].is_present ? world->pods[i].node : NOWHERE;
    return picture;
}

static uint32_t find_picture(const struct picture *pictures, uint32_t count, const struct picture *picture)
{
    for (uint32_t i = count; i-- > 0;)
        if (memcmp(&pictures[i], picture, sizeof *picture) == 0)
            return i;
    return NO_ID;
}

static bool is_below(const struct world *world, uint32_t queue, uint32_t above)
{
    for (uint32_t q = queue; q != NOWHERE; q = world->queues[q].parent)
        if (q == above)
            return true;
    return false;
}

/* Seen from where two queues part, has the first a higher priority? */
static bool is_above(const struct world *world, uint32_t one, uint32_t other)
{
    uint32_t a = one;
    uint32_t b = other;

    while (world->queues[a].parent != NOWHERE && !is_below(world, other, world->queues[a].parent))
        a = world->queues[a].parent;
    while (world->queues[b].parent != NOWHERE && !is_below(world, one, world->queues[b].parent))
        b = world->queues[b].parent;
    return world->queues[a].priority > world->queues[b].priority;
}

/* A gang that needs only some of its groups counts as stale while another one is short of pods. */
static bool needs_some_groups(const struct world *world, uint32_t gang)
{
    const struct tree_shape *tree = &tree_shapes[world->gangs[gang].tree];

    for (uint32_t g = 0; g < tree->count; g++)
        if (!tree->groups[g].is_pod_set && tree->groups[g].min >= 0)
            return true;
    return false;
}

static bool needs_company(const struct world *world, uint32_t gang)
{
    for (uint32_t p = 0; p < WORLD_PODS; p++)
        for (uint32_t r = 0; r < 2; r++)
            if (world->pods[p].is_present && world->pods[p].gang == gang &&
                (world->pods[p].rules[r] == RULE_NEAR_OWN_BY_RACK || world->pods[p].rules[r] == RULE_NEAR_A_BY_ZONE))
                return true;
    return false;
}

static bool shares_gpus(const struct world *world, uint32_t gang)
{
    for (uint32_t p = 0; p < WORLD_PODS; p++)
        if (world->pods[p].is_present && world->pods[p].gang == gang && request_shapes[world->pods[p].request].devices)
            return true;
    return false;
}

/* Is there a node with few slots for pods? */
static bool has_small_node(const struct world *world)
{
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        for (uint32_t a = 0; world->nodes[i].is_present && a < SHAPE_AMOUNTS; a++) {
            const struct amount_spec *amount = &node_shapes[world->nodes[i].shape].amounts[a];
            if (amount->resource && strcmp(amount->resource, "pods") == 0 &&
                (amount->amount < WORLD_PODS || world->nodes[i].has_few_pods))
                return true;
        }
    return false;
}

static bool is_waiting(const struct world *world, uint32_t gang)
{
    for (uint32_t p = 0; p < WORLD_PODS; p++)
        if (world->pods[p].is_present && world->pods[p].gang == gang && world->pods[p].status == POD_PENDING)
            return true;
    return false;
}

/* Does another gang of its queue wait that is served before it? */
static bool is_behind_others(const struct world *world, uint32_t gang)
{
    const struct world_gang *one = &world->gangs[gang];

    for (uint32_t i = 0; i < WORLD_GANGS; i++) {
        const struct world_gang *other = &world->gangs[i];
        if (i != gang && other->is_present && other->queue == one->queue && other->priority >= one->priority &&
            is_waiting(world, i))
            return true;
    }
    return false;
}

/*
 * KAI's rules can go round in circles (docs/differences.md):
 * - What is left of a gang that needs only some of its groups is evicted as stale, and starts again.
 * - A pod that was moved to make room waits again in the next cycle, and takes the place that it left, if that is the
 *   better one now that it is free.
 * - What was reclaimed from a queue goes back to it first when its priority is higher.
 * - A gang evicts the pods that it has to be near to.
 * - A pod that opens a GPU for sharing needs a second slot on its node, which is not counted while it is only promised.
 * - A queue's turn is that of its first gang: one that cannot be placed lets others go before the queue's next gang.
 */
const char *unrest_name(enum unrest unrest)
{
    static const char *const names[] = {
        [UNREST_STALE] = "gangs that need some of their groups are stale and start again",
        [UNREST_RETURN] = "pods that were moved return",
        [UNREST_PRIORITY] = "what is reclaimed from a queue of higher priority goes back to it",
        [UNREST_COMPANY] = "gangs evict the pods that they have to be near to",
        [UNREST_SLOTS] = "pods that open a GPU need another slot for it",
        [UNREST_TURN] = "gangs that cannot be placed keep their queue from its turn",
    };
    _Static_assert(ARRAY_LEN(names) == _UNREST_MAX, "every cause has a name");

    return names[unrest];
}

static enum unrest explain_eviction(const struct world *world, const struct eviction *eviction)
{
    uint32_t gang = world->pods[eviction->pod].gang;

    if (eviction->action == ACTION_STALE_GANG)
        return needs_some_groups(world, gang) ? UNREST_STALE : _UNREST_MAX;
    if (eviction->is_moved)
        return UNREST_RETURN;
    if (eviction->action == ACTION_RECLAIM &&
        is_above(world, world->gangs[gang].queue, world->gangs[eviction->taker].queue))
        return UNREST_PRIORITY;
    if (needs_company(world, eviction->taker))
        return UNREST_COMPANY;
    if (shares_gpus(world, eviction->taker) && has_small_node(world))
        return UNREST_SLOTS;
    return is_behind_others(world, eviction->taker) ? UNREST_TURN : _UNREST_MAX;
}

/* Was something bound or evicted? Promises come to nothing while nothing leaves. */
static bool has_events(const struct world *world)
{
    for (uint32_t i = 0; i < WORLD_PODS; i++)
        if (world->pods[i].is_present && status_in(world->pods[i].status, 1 << POD_BINDING | 1 << POD_RELEASING))
            return true;
    return false;
}

/* What still goes on in the last cycles must have a reason that is known; other evictions may follow from it. */
static void blame(struct play *play, bool is_known_picture)
{
    bool is_seen[_UNREST_MAX] = {false};
    bool is_explained = false;
    const struct eviction *last = NULL;

    vec_foreach (&play->evictions, eviction) {
        if (eviction->cycle + LAST_CYCLES < play->cycles)
            continue;
        enum unrest unrest = explain_eviction(&play->world, eviction);
        last = eviction;
        if (unrest != _UNREST_MAX)
            is_seen[unrest] = true;
        is_explained |= unrest != _UNREST_MAX;
    }
    if (last && !is_explained)
        play_fail(play, "unrest", "%d cycles without any change: %s still evicts pod %s/%s%s", SETTLE_CYCLES,
                  action_name(last->action), world_namespace(KIND_POD, last->pod), world_name(KIND_POD, last->pod),
                  is_known_picture ? ", pods are where they were before" : "");
    for (enum unrest unrest = 0; unrest < _UNREST_MAX; unrest++)
        play->tally->restless[unrest] += is_seen[unrest];
}

void play_settle(struct play *play, struct chance *chance)
{
    _cleanup_(freep) struct picture *pictures = xcalloc(SETTLE_CYCLES, sizeof *pictures);
    uint32_t quiet = 0;
    uint32_t seen = NO_ID;

    /* Gangs that allocate is not offered are moved about by others for nothing: KAI does so, too. */
    if (play->config.queue_depth[ACTION_ALLOCATE] >= 0)
        return;
    for (uint32_t n = 0; n < SETTLE_CYCLES; n++) {
        play_carry_out(play);
        play_name_groups(play);
        play->world.now += NSEC_PER_MIN;
        (void)play_cycle(play, chance, all_actions, ARRAY_LEN(all_actions));
        quiet = has_events(&play->world) ? 0 : quiet + 1;
        if (quiet == QUIET_CYCLES) {
            play->tally->quiet++;
            play->tally->longest = MAX(play->tally->longest, (uint64_t)n + 1 - QUIET_CYCLES);
            return;
        }
        pictures[n] = take_picture(&play->world);
        seen = find_picture(pictures, n, &pictures[n]);
    }
    blame(play, seen != NO_ID);
}
