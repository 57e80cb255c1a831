/* SPDX-License-Identifier: Apache-2.0 */

/* Where pods were bound in this cycle, against the rules of the tables, which are read here and not by any filter. */
#include <string.h>

#include "base/macros.h"
#include "check.h"
#include "world_tables.h"

/* The last rule of a pod within a range: a later one replaces an earlier one of the same part. */
static enum rule last_rule(const struct world_pod *pod, enum rule first, enum rule last)
{
    for (uint32_t r = ARRAY_LEN(pod->rules); r-- > 0;)
        if (pod->rules[r] >= first && pod->rules[r] <= last)
            return pod->rules[r];
    return RULE_NO;
}

static const char *node_problem(const struct world *world, const struct world_pod *pod, uint32_t parity)
{
    const struct world_node *node = &world->nodes[pod->node];
    enum rule terms = last_rule(pod, RULE_ZONES, RULE_NOT_NODE);
    enum rule tolerates = last_rule(pod, RULE_TOLERATES_KEY, RULE_TOLERATES_ALL);

    if (!node->is_present)
        return "there is no such node";
    if (node->troubles)
        return "the node is in trouble";
    if (last_rule(pod, RULE_POOL, RULE_POOL) && node->pool != 1)
        return "it is of another pool";
    if (terms == RULE_ZONES && node->zone != 1 && node->zone != 2)
        return "it is in another zone";
    if (terms == RULE_NOT_NODE && pod->node == 0)
        return "it must not be this node";
    if ((node->taints == 1 && !tolerates) || (node->taints == 3 && tolerates != RULE_TOLERATES_ALL))
        return "it is tainted";
    if (last_rule(pod, RULE_VOLUME, RULE_VOLUME)) {
        const struct world_volume *volume = &world->volumes[parity];
        if (!volume->is_present || volume->is_lost || (!volume->is_bound && !volume->waits))
            return "its volume cannot be used";
        if (volume->is_bound && volume->zone && volume->zone != node->zone)
            return "its volume is elsewhere";
    }
    if (last_rule(pod, RULE_MAP, RULE_MAP) && !world->has_map[parity])
        return "its config map is missing";
    return NULL;
}

static const char *gang_problem(const struct world *world, const struct world_pod *pod)
{
    const struct world_gang *gang = &world->gangs[pod->gang];

    if (pod->gang == NOWHERE || !gang->is_present || tree_pod_set(gang->tree, pod->set) == NOWHERE)
        return "it is of no gang, or of no set of it";
    if (request_shapes[pod->request].is_legacy_mig)
        return "such pods are not placed";
    if (gang->queue == NOWHERE || !world->queues[gang->queue].is_present)
        return "it has no queue";
    for (uint32_t q = 0; q < WORLD_QUEUES; q++)
        if (world->queues[q].is_present && !world->queues[q].is_parent_lost && world->queues[q].parent == gang->queue)
            return "its queue is no leaf";
    for (uint32_t q = gang->queue; q != NOWHERE; q = world->queues[q].parent)
        if (!world->queues[q].is_present || world->queues[q].is_parent_lost)
            return "its queue hangs in the air";
    return NULL;
}

static const char *own_app(const struct world_pod *pod)
{
    return app_text(pod->app) ? app_text(pod->app) : "a";
}

static bool has_app(const struct world_pod *pod, const char *app)
{
    return app_text(pod->app) && strcmp(app_text(pod->app), app) == 0;
}

/* Are both nodes in one domain? By host, rack or zone, in the first letter of the label. */
static bool are_together(const struct world *world, uint32_t a, uint32_t b, char level)
{
    const struct world_node *l = &world->nodes[a];
    const struct world_node *r = &world->nodes[b];

    if (level == 'h')
        return a == b;
    if (level == 'r')
        return l->rack && l->rack == r->rack;
    return l->zone && l->zone == r->zone;
}

/* Must `one` be apart from `other`, which is where it is? */
static bool must_be_apart(const struct world *world, uint32_t one, uint32_t other)
{
    const struct world_pod *pod = &world->pods[one];
    enum rule rule = last_rule(pod, RULE_APART_BY_HOST, RULE_APART_BY_ZONE);

    if (!rule || !has_app(&world->pods[other], own_app(pod)))
        return false;
    if (rule == RULE_APART_BY_HOST && one % 2 != other % 2)
        return false;
    return are_together(world, pod->node, world->pods[other].node, rule == RULE_APART_BY_HOST ? 'h' : 'z');
}

static bool share_a_port(const struct world_pod *a, const struct world_pod *b)
{
    return a->node == b->node && last_rule(a, RULE_PORT, RULE_PORT_ON_ADDRESS) &&
           last_rule(b, RULE_PORT, RULE_PORT_ON_ADDRESS);
}

/* Pods that were promised a place count as there, as in KAI. */
static bool has_company(const struct cycle *cycle, uint32_t i)
{
    const struct world *world = &cycle->play->world;
    const struct world_pod *pod = &world->pods[i];
    enum rule rule = last_rule(pod, RULE_NEAR_OWN_BY_RACK, RULE_NEAR_A_BY_ZONE);
    const char *app = rule == RULE_NEAR_A_BY_ZONE ? "a" : own_app(pod);

    if (!rule || has_app(pod, app))
        return true;
    for (uint32_t other = i % 2; other < WORLD_PODS; other += 2) {
        uint32_t node = pod_uses_node(&world->pods[other]) ? world->pods[other].node : cycle->promised[other];
        if (other != i && node != NOWHERE && world->nodes[node].is_present && has_app(&world->pods[other], app) &&
            are_together(world, pod->node, node, rule == RULE_NEAR_A_BY_ZONE ? 'z' : 'r'))
            return true;
    }
    return false;
}

static const char *pods_problem(const struct cycle *cycle, uint32_t i)
{
    const struct world *world = &cycle->play->world;

    for (uint32_t other = 0; other < WORLD_PODS; other++) {
        if (other == i || !pod_uses_node(&world->pods[other]) || !world->nodes[world->pods[other].node].is_present)
            continue;
        if (share_a_port(&world->pods[i], &world->pods[other]))
            return "another pod has its port";
        if (must_be_apart(world, i, other) || must_be_apart(world, other, i))
            return "it is together with a pod that it must be apart from";
    }
    return has_company(cycle, i) ? NULL : "it is not near the pods that it must be near to";
}

void check_places(const struct cycle *cycle)
{
    const struct world *world = &cycle->play->world;

    for (uint32_t i = 0; i < WORLD_PODS; i++) {
        const struct world_pod *pod = &world->pods[i];
        const char *problem;

        if (!cycle->is_bound[i])
            continue;
        problem = node_problem(world, pod, i % 2);
        problem = problem ? problem : gang_problem(world, pod);
        problem = problem ? problem : pods_problem(cycle, i);
        if (cycle->before.pods[i].status != POD_PENDING)
            problem = "it did not wait";
        if (problem)
            play_fail(cycle->play, "place", "pod %s/%s was bound to node %s: %s", world_namespace(KIND_POD, i),
                      world_name(KIND_POD, i), world_name(KIND_NODE, pod->node), problem);
    }
}

static bool same_device(const struct world_device *a, const struct world_device *b)
{
    return strcmp(a->driver, b->driver) == 0 && strcmp(a->pool, b->pool) == 0 && strcmp(a->name, b->name) == 0;
}

/* Is the device one of a slice that the node can reach? */
static bool can_reach(const struct world *world, uint32_t node, const struct world_device *device)
{
    for (uint32_t s = 0; s < WORLD_SLICES; s++) {
        const struct world_slice *slice = &world->slices[s];
        char *end;
        if (!slice->is_present || (slice->node != NOWHERE && slice->node != node) ||
            (uint32_t)strtoul(device->pool + strlen("pool"), &end, 10) != s)
            continue;
        return (uint32_t)strtoul(device->name, &end, 10) < slice->count;
    }
    return false;
}

/*
 * Is the device another claim's? As in KAI, what a pod that was evicted in this cycle had can be given away at once: a
 * matter of an order of actions in which something is placed after others were evicted.
 */
static bool is_taken(const struct cycle *cycle, uint32_t claim, const struct world_device *device)
{
    const struct world *world = &cycle->play->world;

    for (uint32_t other = 0; other < WORLD_CLAIMS; other++) {
        const struct world_claim *holder = &world->claims[other];
        bool stays = false;

        for (uint32_t p = 0; p < WORLD_PODS; p++)
            stays |= holder->reserved[p / 64] >> p % 64 & 1 && !cycle->is_leaving[p];
        for (uint32_t o = 0; other != claim && stays && holder->is_present && o < holder->device_count; o++)
            if (holder->is_allocated && same_device(device, &holder->devices[o]))
                return true;
    }
    return false;
}

static const char *claim_problem(const struct cycle *cycle, uint32_t c, uint32_t node)
{
    const struct world *world = &cycle->play->world;
    const struct world_claim *claim = &world->claims[c];

    if (!claim->is_present)
        return "the claim is not there";
    if (!claim->is_allocated || claim->device_count != claim->count)
        return "the claim has too few devices";
    /* A claim that had its devices before the cycle keeps them, also when their slice has changed. */
    if (cycle->before.claims[c].is_allocated)
        return NULL;
    for (uint32_t d = 0; d < claim->device_count; d++) {
        if (!can_reach(world, node, &claim->devices[d]))
            return "the node cannot reach the device";
        if (is_taken(cycle, c, &claim->devices[d]))
            return "the device is another claim's";
    }
    return NULL;
}

void check_devices(const struct cycle *cycle)
{
    const struct world *world = &cycle->play->world;

    for (uint32_t i = 0; i < WORLD_PODS; i++) {
        const struct world_pod *pod = &world->pods[i];
        for (uint32_t c = 0; cycle->is_bound[i] && c < pod->claim_count; c++) {
            const char *problem = claim_problem(cycle, pod->claims[c], pod->node);
            if (problem)
                play_fail(cycle->play, "device", "pod %s/%s with claim %s on node %s: %s", world_namespace(KIND_POD, i),
                          world_name(KIND_POD, i), world_name(KIND_CLAIM, pod->claims[c]),
                          world_name(KIND_NODE, pod->node), problem);
        }
    }
}
