/* SPDX-License-Identifier: Apache-2.0 */

/* The pods of the node: those that share GPUs, and those that keep GPUs for them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "frame/service.h"
#include "kube/client/resource.h"
#include "kube/follow/follow.h"
#include "services/fencer/fencer_internal.h"

#define RETRY_FIRST (500 * NSEC_PER_MSEC)
#define RETRY_MAX (30 * NSEC_PER_SEC)

void post_free(struct post *post)
{
    if (!post)
        return;
    sharer_done(&post->pod);
    free(post->done);
    free(post->refused);
    free(post->told);
    free(post);
}

struct post *fencer_find(const struct fencer *fencer, const char *fence)
{
    vec_foreach (&fencer->posts, post) {
        if (strcmp((*post)->pod.fence, fence) == 0)
            return *post;
    }
    return NULL;
}

static void drop_pod(struct fencer *fencer, const char *uid)
{
    for (uint32_t i = 0; i < fencer->posts.len; i++) {
        if (strcmp(fencer->posts.items[i]->pod.uid, uid) != 0)
            continue;
        post_free(fencer->posts.items[i]);
        vec_remove_at(&fencer->posts, i);
        return;
    }
}

static void drop_keeper(struct fencer *fencer, const char *uid)
{
    for (uint32_t i = 0; i < fencer->keepers.len; i++) {
        if (strcmp(fencer->keepers.items[i].uid, uid) != 0)
            continue;
        keeper_done(&fencer->keepers.items[i]);
        vec_remove_at(&fencer->keepers, i);
        return;
    }
}

static void see_keeper(struct fencer *fencer, yyjson_val *object, const char *uid)
{
    struct keeper keeper;

    drop_keeper(fencer, uid);
    if (keeper_read(object, &keeper))
        vec_push(&fencer->keepers, keeper);
}

static void see_pod(struct fencer *fencer, yyjson_val *object, const char *uid)
{
    struct sharer pod;

    if (!sharer_read(object, &pod)) {
        drop_pod(fencer, uid);
        return;
    }
    struct post *post = fencer_find(fencer, pod.fence);

    if (post) {
        sharer_done(&post->pod);
    } else {
        post = xcalloc(1, sizeof *post);
        post->backoff = (struct backoff){.first = RETRY_FIRST, .max = RETRY_MAX};
        vec_push(&fencer->posts, post);
    }
    post->pod = pod;
}

static void on_pod(void *arg, const struct follow_event *event)
{
    struct fencer *fencer = arg;
    bool is_keeper = strcmp(event->namespace, fencer->flags->reservation_namespace) == 0;

    if (event->change == FOLLOW_DELETED)
        (is_keeper ? drop_keeper : drop_pod)(fencer, event->uid);
    else
        (is_keeper ? see_keeper : see_pod)(fencer, event->object, event->uid);
    loop_task_queue(&fencer->work);
}

static void on_synced(void *arg, bool is_first)
{
    struct fencer *fencer = arg;

    if (is_first)
        log_info(fencer->service->log, "the pods of the node have been listed",
                 log_int("pods", (int64_t)follower_len(fencer->pods)), log_int("sharing", fencer->posts.len));
    loop_task_queue(&fencer->work);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((struct fencer *)arg)->service, "Pod", err, wait);
}

void fencer_follow(struct fencer *fencer)
{
    struct strbuf fields;

    strbuf_init(&fields, 4096);
    strbuf_addf(&fields, "spec.nodeName=%s", fencer->flags->node);
    fencer->pods = follower_new(fencer->service->client, &(struct follow_options){
                                                             .resource = kube_known(KUBE_PODS),
                                                             .field_selector = fields.text,
                                                             .on_event = on_pod,
                                                             .on_synced = on_synced,
                                                             .on_problem = on_problem,
                                                             .arg = fencer,
                                                         });
    strbuf_done(&fields);
}
