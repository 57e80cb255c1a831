/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/mem.h"
#include "kube/client/condition.h"
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "local/agent/agent.h"
#include "local/agent/agent_internal.h"
#include "local/controllers/values.h"

static struct agent_node *find(const struct agent *agent, const char *name)
{
    int64_t index = fleet_find(&agent->fleet, name);

    return index < 0 ? NULL : &agent->nodes[index];
}

void agent_put_node(struct agent *agent, yyjson_val *object)
{
    struct agent_node *node = find(agent, kube_text(object, "metadata", "name"));

    bool is_leftover = agent_take_leftover(agent, object);

    if (!node)
        return;
    node->is_outdated = is_leftover;
    if (is_leftover)
        return;
    bool was_lost = node->is_lost;
    node->is_there = node->was_there = true;
    node->is_lost = strcmp(kube_text(object, "metadata", "annotations", PRETENDED_LOST), "true") == 0;
    node->is_ready = condition_is_true(object, "Ready");
    if (node->is_lost == node->is_ready)
        work_add(agent->node_work, &node->work);
    /* What happened to its pods meanwhile is made up for. */
    if (was_lost && !node->is_lost) {
        for (struct list_link *link = node->pods.first; link; link = link->next)
            work_add(agent->pod_work, &list_item(link, struct agent_pod, in_node)->work);
    }
}

void agent_drop_node(struct agent *agent, const char *name)
{
    struct agent_node *node = find(agent, name);

    if (node)
        node->is_there = false;
}

static void on_done(void *arg, const struct kube_answer *answer)
{
    struct agent_node *node = arg;
    struct err err = answer->err;

    node->call = NULL;
    if (answer->status == 409 || answer->status == 404)
        err.code = 0;
    if (err.code < 0)
        log_warn(node->agent->service->log, "a fake node could not be written; trying again later",
                 log_int("node", node->index), log_error(&err));
    else
        node->was_there = true;
    work_done(node->agent->node_work, &node->work, &err);
}

static void create(struct agent_node *node)
{
    yyjson_mut_doc *doc = fleet_node(&node->agent->fleet, node->index);

    node->call = kube_send_doc(node->agent->service->client,
                               &(struct kube_request){
                                   .verb = KUBE_CREATE,
                                   .resource = kube_known(KUBE_NODES),
                                   .is_repeatable = true,
                                   .on_done = on_done,
                                   .arg = node,
                               },
                               doc);
    yyjson_mut_doc_free(doc);
}

static void set_ready(struct agent_node *node, bool is_ready)
{
    yyjson_mut_doc *doc = kube_condition_patch(
        &(struct kube_condition){
            .type = "Ready",
            .status = is_ready ? "True" : "Unknown",
            .reason = is_ready ? "KubeletReady" : "NodeStatusUnknown",
            .message = is_ready ? "the node is a fake node of muster up" : "Kubelet stopped posting node status.",
        },
        nsec_now_wall());
    char name[FLEET_NAME_MAX];

    node->call = kube_send_doc(node->agent->service->client,
                               &(struct kube_request){
                                   .verb = KUBE_PATCH_STRATEGIC,
                                   .resource = kube_known(KUBE_NODES),
                                   .name = fleet_name(node->index, name),
                                   .subresource = "status",
                                   .is_repeatable = true,
                                   .on_done = on_done,
                                   .arg = node,
                               },
                               doc);
    yyjson_mut_doc_free(doc);
}

void agent_work_on_node(void *arg, struct work_item *item)
{
    struct agent *agent = arg;
    struct agent_node *node = list_item(&item->in_work, struct agent_node, work.in_work);

    /* A node that somebody deletes is lost for good, until the next start. */
    if (!node->was_there)
        create(node);
    else if (node->is_there && node->is_lost == node->is_ready)
        set_ready(node, !node->is_lost);
    else
        work_done(agent->node_work, item, NULL);
}
