/* SPDX-License-Identifier: Apache-2.0 */

/* Taking back what an attempt has done, so that the next one, perhaps on another node, finds things as they were. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "services/binder/binder_internal.h"
#include "services/binder/documents/write.h"
#include "text/json.h"

static void on_unlabelled(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    yyjson_val *pod = NULL;

    job->attempt = NULL;
    if (answer->err.code == 0 && kube_answer_object(answer, &pod, NULL) == 0)
        binder_pod_seen(job->binder, pod);
    else if (answer->status != 404)
        log_warn(job->binder->log, "the GPU group labels of the pod could not be removed",
                 log_str("namespace", job->request->namespace), log_str("pod", job->request->pod),
                 log_error(&answer->err));
    job_finish(job);
}

/* By this attempt, or by one that did not live to take it back. */
static bool is_labelled(const struct job *job)
{
    const struct roster_pod *pod = roster_find(&job->binder->roster, job->request->namespace, job->request->pod);

    return job->is_labelled ||
           (request_is_fraction(job->request) && pod && pod->group_count > 0 && strcmp(pod->uid, job->pod_uid) == 0);
}

static void undo_next(struct job *job)
{
    const struct plugin_options *plugins = &job->binder->plugins;
    const struct request *request = job->request;

    while (job->undo_at > 0) {
        const struct plugin *plugin = plugin_find(plugins->order[--job->undo_at]);

        if (!plugin->undo || !job->pod || !plugin->is_needed(job))
            continue;
        plugin->undo(job);
        return;
    }
    if (is_labelled(job))
        job_write(job, KUBE_PATCH_MERGE, KUBE_PODS, request->namespace, request->pod, NULL,
                  write_labels(job->pod_uid, &request->groups, false), on_unlabelled);
    else
        job_finish(job);
}

void job_undone(struct job *job, const struct err *err)
{
    if (err && err->code < 0)
        log_warn(job->binder->log, "rollback is incomplete", log_str("namespace", job->request->namespace),
                 log_str("pod", job->request->pod), log_error(err));
    undo_next(job);
}

/* Whether the bind came through after all is for the pod to say. */
static void on_pod(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    yyjson_val *pod = NULL;

    job->call = NULL;
    if (answer->status == 404) {
        job->is_stale = true;
        job_finish(job);
        return;
    }
    if (answer->err.code < 0 || kube_answer_object(answer, &pod, NULL) < 0) {
        job->is_unknown = true;
        job_finish(job);
        return;
    }
    const char *node = kube_text(pod, "spec", "nodeName");

    if (strcmp(kube_text(pod, "metadata", "uid"), job->pod_uid) != 0) {
        job->is_stale = true;
        job_finish(job);
    } else if (node[0] && strcmp(node, job->request->node) == 0) {
        job->err = (struct err){0};
        job->pod_node = xstrdup(node);
        job_finish(job);
    } else {
        undo_next(job);
    }
}

void job_roll_back(struct job *job)
{
    job->undo_at = job->binder->plugins.count;
    if (job->is_stale || !job->pod_uid[0])
        job_finish(job);
    else if (job->is_asked)
        job_read(job, KUBE_PODS, job->request->namespace, job->request->pod, on_pod);
    else
        undo_next(job);
}
