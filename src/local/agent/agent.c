/* SPDX-License-Identifier: Apache-2.0 */

/* The service: its flags, and what it follows. */
#include "local/agent/agent.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/follow/follow.h"
#include "local/agent/agent_internal.h"
#include "net/loop.h"

enum { WORKERS = 64 };

static const struct flag flags[] = {
    {"fake-nodes", FLAG_STRING, FLAG_AT(struct agent_flags, fake_nodes), "",
     "fake nodes, separated by commas: 100x8xH100 is 100 nodes with 8 GPUs each", 0, 0},
};

static int configure(struct service *service, struct err *err)
{
    const struct agent_flags *values = service->values;
    struct fleet fleet;
    int r = fleet_parse(&fleet, values->fake_nodes, err);

    service->settings.component = "muster-agent";
    if (r < 0)
        return err_wrap(err, r, "--fake-nodes");
    fleet_done(&fleet);
    return 0;
}

static void on_node(void *arg, const struct follow_event *event)
{
    if (event->change == FOLLOW_DELETED)
        agent_drop_node(arg, event->name);
    else
        agent_put_node(arg, event->object);
}

static void on_pod(void *arg, const struct follow_event *event)
{
    if (event->change == FOLLOW_DELETED)
        agent_drop_pod(arg, event->uid);
    else
        agent_put_pod(arg, event->object);
}

static void on_synced(void *arg, bool is_first)
{
    struct agent *agent = arg;

    (void)is_first;
    if (agent->is_synced || !follower_is_synced(agent->node_follower) || !follower_is_synced(agent->pod_follower))
        return;
    agent->is_synced = true;
    for (uint32_t i = 0; i < agent->fleet.nodes; i++) {
        if (!agent->nodes[i].was_there && !agent->nodes[i].is_outdated)
            work_add(agent->node_work, &agent->nodes[i].work);
    }
    service_set_ready(agent->service, true);
    work_pump(agent->leftover_work);
    work_pump(agent->node_work);
    work_pump(agent->pod_work);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((const struct agent *)arg)->service, "objects", err, wait);
}

static struct follower *follow(struct agent *agent, enum kube_known known, const char *fields, follow_event_fn on_event)
{
    return follower_new(agent->service->client, &(struct follow_options){
                                                    .resource = kube_known(known),
                                                    .field_selector = fields,
                                                    .on_event = on_event,
                                                    .on_synced = on_synced,
                                                    .on_problem = on_problem,
                                                    .arg = agent,
                                                });
}

static bool may_start(void *arg)
{
    return ((const struct agent *)arg)->is_synced;
}

static struct work *new_work(struct agent *agent, const char *name, void (*start)(void *arg, struct work_item *item))
{
    return work_new(&(struct work_options){
        .service = agent->service,
        .controller = name,
        .workers = WORKERS,
        .may_start = may_start,
        .start = start,
        .arg = agent,
    });
}

static int open_agent(struct service *service, struct err *err)
{
    struct agent *agent = xcalloc(1, sizeof *agent);

    service->state = agent;
    agent->service = service;
    agent->flags = service->values;
    int r = fleet_parse(&agent->fleet, agent->flags->fake_nodes, err);
    if (r < 0) {
        free(agent);
        return r;
    }
    agent->nodes = xcalloc((size_t)agent->fleet.nodes + 1, sizeof *agent->nodes);
    for (uint32_t i = 0; i < agent->fleet.nodes; i++)
        agent->nodes[i] = (struct agent_node){.agent = agent, .index = i};
    agent->kind = &pretended_runtime;
    agent->runtime = agent->kind->open(service->loop);
    agent->node_work = new_work(agent, "agent-node", agent_work_on_node);
    agent->pod_work = new_work(agent, "agent-pod", agent_work_on_pod);
    agent->leftover_work = new_work(agent, "agent-leftover", agent_work_on_leftover);
    agent->node_follower = follow(agent, KUBE_NODES, NULL, on_node);
    agent->pod_follower = follow(agent, KUBE_PODS, "spec.nodeName!=", on_pod);
    return 0;
}

static void lead(struct service *service)
{
    struct agent *agent = service->state;

    work_pump(agent->leftover_work);
    work_pump(agent->node_work);
    work_pump(agent->pod_work);
}

static void stop(struct service *service)
{
    struct agent *agent = service->state;

    /* A pod that runs is adopted by the next start, and nodes need no last words. */
    work_stop(agent->leftover_work);
    work_stop(agent->node_work);
    work_stop(agent->pod_work);
}

static void close_agent(struct service *service)
{
    struct agent *agent = service->state;

    follower_free(agent->node_follower);
    follower_free(agent->pod_follower);
    for (uint32_t i = 0; i < agent->fleet.nodes; i++) {
        struct agent_node *node = &agent->nodes[i];

        for (struct agent_pod *pod; (pod = list_first(&node->pods, struct agent_pod, in_node));)
            agent_drop_pod(agent, pod->uid);
        if (node->call)
            kube_cancel(TAKE_PTR(node->call));
        work_drop(agent->node_work, &node->work);
    }
    agent_forget_leftovers(agent);
    work_free(agent->leftover_work);
    work_free(agent->node_work);
    work_free(agent->pod_work);
    strmap_done(&agent->pods);
    agent->kind->close(agent->runtime);
    fleet_done(&agent->fleet);
    free(agent->nodes);
    free(agent);
}

const struct service_kind agent_service = {
    .name = "agent",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct agent_flags),
    .has_api = true,
    .can_elect = true,
    .configure = configure,
    .open = open_agent,
    .lead = lead,
    .stop = stop,
    .close = close_agent,
};
