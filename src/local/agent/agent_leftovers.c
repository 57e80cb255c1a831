/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Fake nodes of an earlier start that --fake-nodes does not ask for any more: nobody would run what is placed on them. They
 * are deleted, and so are those of another GPU, which are made anew.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "local/agent/agent_internal.h"

struct agent_leftover {
    struct agent *agent;
    struct work_item work;
    struct list_link in_all;
    struct kube_call *call;
    char *name, *uid;
};

static void forget(struct agent_leftover *leftover)
{
    list_remove(&leftover->agent->leftovers, &leftover->in_all);
    kube_cancel(TAKE_PTR(leftover->call));
    work_drop(leftover->agent->leftover_work, &leftover->work);
    free(leftover->name);
    free(leftover->uid);
    free(leftover);
}

void agent_forget_leftovers(struct agent *agent)
{
    for (struct agent_leftover *one; (one = list_first(&agent->leftovers, struct agent_leftover, in_all));)
        forget(one);
}

bool agent_take_leftover(struct agent *agent, yyjson_val *node)
{
    if (agent->is_synced || fleet_has(&agent->fleet, node) ||
        strcmp(kube_text(node, "metadata", "labels", FLEET_LABEL), FLEET_LABEL_VALUE) != 0)
        return false;
    struct agent_leftover *leftover = xcalloc(1, sizeof *leftover);

    *leftover = (struct agent_leftover){
        .agent = agent,
        .name = xstrdup(kube_text(node, "metadata", "name")),
        .uid = xstrdup(kube_text(node, "metadata", "uid")),
    };
    list_push(&agent->leftovers, &leftover->in_all);
    work_add(agent->leftover_work, &leftover->work);
    return true;
}

static void on_deleted(void *arg, const struct kube_answer *answer)
{
    struct agent_leftover *leftover = arg;
    struct agent *agent = leftover->agent;
    struct err err = answer->err;

    leftover->call = NULL;
    /* Somebody else was faster. */
    if (answer->status == 404 || answer->status == 409)
        err.code = 0;
    work_done(agent->leftover_work, &leftover->work, &err);
    if (err.code < 0) {
        log_warn(agent->service->log,
                 "a fake node that is no longer asked for could not be deleted; trying again later",
                 log_str("node", leftover->name), log_error(&err));
        return;
    }
    int64_t index = fleet_find(&agent->fleet, leftover->name);
    forget(leftover);
    if (index >= 0)
        work_add(agent->node_work, &agent->nodes[index].work);
}

void agent_work_on_leftover(void *arg, struct work_item *item)
{
    struct agent *agent = arg;
    struct agent_leftover *leftover = list_item(&item->in_work, struct agent_leftover, work.in_work);

    leftover->call = kube_delete(agent->service->client, &(struct kube_delete_request){
                                                             .resource = kube_known(KUBE_NODES),
                                                             .name = leftover->name,
                                                             .uid = leftover->uid,
                                                             .grace_s = -1,
                                                             .on_done = on_deleted,
                                                             .arg = leftover,
                                                         });
}
