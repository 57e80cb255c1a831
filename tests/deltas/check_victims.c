/* SPDX-License-Identifier: Apache-2.0 */

/* Who was evicted, and for whom. */
#include "base/macros.h"
#include "check.h"
#include "model/queue.h"
#include "model/state.h"
#include "world_tables.h"

static bool is_elastic(const struct world *world, uint32_t gang)
{
    for (uint32_t set = 0; tree_pod_set(world->gangs[gang].tree, set) != NOWHERE; set++) {
        uint32_t pods = 0;
        for (uint32_t p = 0; p < WORLD_PODS; p++)
            pods += world->pods[p].is_present && world->pods[p].gang == gang && world->pods[p].set == set;
        if (pods > world->gangs[gang].mins[tree_pod_set(world->gangs[gang].tree, set)])
            return true;
    }
    return false;
}

static bool is_moved(const struct decision *decisions, size_t first, size_t count, pod_id pod)
{
    for (size_t d = first; d < count; d++)
        if (decisions[d].kind == DECISION_PIPELINE && decisions[d].pod == pod)
            return true;
    return false;
}

/* The first minimum runtime on the way up from the queue. */
static nsec_t preempt_runtime(const struct play *play, uint32_t queue)
{
    for (uint32_t q = queue; q != NOWHERE; q = play->world.queues[q].parent)
        if (play->world.queues[q].preempt_min_runtime >= 0)
            return play->world.queues[q].preempt_min_runtime;
    return play->config.default_preempt_min_runtime;
}

static const char *victim_problem(const struct cycle *cycle, const struct decision *decisions, size_t first,
                                  size_t count, const struct decision *one)
{
    const struct play *play = cycle->play;
    const struct world *world = &play->world;
    uint32_t victim = world->pods[cycle->pod_of.items[one->pod]].gang;
    uint32_t taker = cycle->gang_of.items[one->on_behalf];
    const struct world_gang *gang = &cycle->before.gangs[victim];
    const struct world_gang *other = &cycle->before.gangs[taker];
    nsec_t delay = MAX(other->created, other->last_eviction) + other->preemption_delay;

    if (!gang->is_preemptible)
        return "it may not be preempted";
    if (victim == taker)
        return "it is of the gang that it makes room for";
    if (other->preemption_delay > 0 && world->now < delay)
        return "the gang that it makes room for may not evict yet";
    if (one->action == ACTION_CONSOLIDATION && !other->is_preemptible)
        return "nothing is moved for what may not be preempted";
    if (one->action == ACTION_CONSOLIDATION && !is_moved(decisions, first, count, one->pod))
        return "it has nowhere to go";
    if (one->action == ACTION_RECLAIM && gang->queue == other->queue)
        return "it is of the same queue";
    if (one->action == ACTION_PREEMPT && gang->queue != other->queue)
        return "it is of another queue";
    if (one->action == ACTION_PREEMPT && gang->priority >= other->priority)
        return "it is as important";
    if (one->action == ACTION_PREEMPT && gang->last_start != 0 && !is_elastic(world, victim) &&
        world->now < gang->last_start + preempt_runtime(play, gang->queue))
        return "it has not run long enough";
    return NULL;
}

/* GPU memory is counted against the smallest GPUs, and rounded up where it is placed. */
static double slack_of(const struct cycle *cycle, int resource)
{
    return resource == SHARE_GPU && cycle->play->world.theme & (THEME_MEMORY | THEME_SHARED) ? 0.08 : 1e-6;
}

/* Whoever took from others has no more than its share now. */
static void check_share(const struct cycle *cycle, gang_id taker)
{
    const struct state *state = cycle->play->state;
    queue_id queue = state->gangs.items[taker].queue;
    struct queue_share share = engine_share(cycle->play->engine, queue);

    for (int r = 0; r < SHARE_COUNT; r++) {
        double held = share_to_double(r, state->queues.items[queue].allocated.v[r]);
        if (share.fair[r] != UNLIMITED && held > share.fair[r] + slack_of(cycle, r))
            play_fail(cycle->play, "fair share",
                      "queue %s has %g of resource %d after it took from others; its share is %g",
                      state_name(state, state->queues.items[queue].name), held, r, share.fair[r]);
    }
}

void check_victims(const struct cycle *cycle, const struct decision *decisions, size_t first, size_t count)
{
    const struct world *world = &cycle->play->world;

    for (size_t d = first; d < count; d++) {
        const struct decision *one = &decisions[d];
        uint32_t pod = cycle->pod_of.items[one->pod];

        if (one->kind != DECISION_EVICT || one->action == ACTION_STALE_GANG)
            continue;
        const char *problem = one->on_behalf == NO_ID  ? "for nobody"
                              : cycle->is_leaving[pod] ? "for the second time"
                                                       : victim_problem(cycle, decisions, first, count, one);
        if (problem)
            play_fail(cycle->play, "victim", "pod %s/%s of gang %s was evicted by %s: %s",
                      world_namespace(KIND_POD, pod), world_name(KIND_POD, pod),
                      world_name(KIND_GANG, world->pods[pod].gang), action_name(one->action), problem);
        if (one->action == ACTION_RECLAIM)
            check_share(cycle, one->on_behalf);
    }
}
