/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Volumes of running pods follow their sources. The agent asks for the few objects that its pods refer to now and then,
 * as a kubelet does, and so needs no right to watch the Secrets of everybody.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "local/controllers/values.h"
#include "local/node/node_internal.h"
#include "local/node/pod/users.h"
#include "local/node/pod/volumes.h"
#include "local/server/files.h"
#include "local/shim/shim.h"

#define PERIOD (20 * NSEC_PER_SEC)

bool node_pod_is_stale(const struct node_pod *pod)
{
    return pod->can_change && pod->is_linked && !pod->is_over && !pod->is_ending && nsec_now_boot() >= pod->refresh_at;
}

void node_pods_refresh(struct node *node)
{
    struct node_pod *pod;

    for (size_t cursor = 0; (pod = strmap_next(&node->pods, &cursor));) {
        if (node_pod_is_stale(pod))
            work_add(node->work, &pod->work);
    }
}

static void finish(struct node_pod *pod, const struct err *err)
{
    pod->refresh_at = nsec_now_boot() + PERIOD;
    if (err->code < 0)
        log_warn(pod->node->service->log, "the volumes of a pod are not up to date; trying again later",
                 log_str("namespace", pod->namespace), log_str("pod", pod->name), log_error(err));
    work_done(pod->node->work, &pod->work, NULL);
}

static void fetch(struct node_pod *pod, bool has_tokens);

static void on_fetched(void *arg, const struct err *err)
{
    struct node_pod *pod = arg;
    yyjson_val *object = yyjson_doc_get_root(pod->object);
    _cleanup_(freep) char *volumes = file_path(pod->folder, POD_VOLUMES);
    struct err problem = *err;
    struct user user;

    pod->fetching = NULL;
    if (!object || pod->is_ending || problem.code < 0) {
        finish(pod, &problem);
        return;
    }
    int r = user_of(&user, object, NULL, NULL, joined_rules(pod->node), &problem);
    if (r == 0)
        r = volumes_update(volumes, object, &pod->sources, &user, &pod->node->machine, &problem);
    if (r == -ENOKEY && !pod->has_tokens) {
        fetch(pod, true);
        return;
    }
    problem.code = r;
    finish(pod, &problem);
}

/* Tokens are made when they are asked for: only once it is known that one is needed. */
static void fetch(struct node_pod *pod, bool has_tokens)
{
    yyjson_val *object = yyjson_doc_get_root(pod->object);

    pod->has_tokens = has_tokens;
    sources_done(&pod->sources);
    sources_collect(&pod->sources, object, has_tokens);
    if (pod->sources.items.len > 0)
        pod->fetching = sources_fetch(&pod->sources, pod->node->service->client, object, on_fetched, pod);
    else
        on_fetched(pod, &(struct err){0});
}

void node_pod_refresh(struct node_pod *pod)
{
    fetch(pod, false);
}
