/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pods that are bound and have yet to be told so: their condition, their event and the status of their request. Binds go
 * before. There may be thousands, so that a job is over with the bind, and leaves what is to be told to another. Should we
 * end meanwhile, the next binder finds a request that is not done for a pod that is bound, and tells it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "services/binder/binder_internal.h"

struct bound {
    struct item *item;
    nsec_t started, ended;
    uint64_t pod_bound;
    struct list_link in_later;
    const char *node;  // lies behind the UID
    char uid[];
};

static struct bound *bound_of(const struct job *job)
{
    size_t uid_size = strlen(job->pod_uid) + 1;
    size_t node_size = strlen(job->pod_node) + 1;
    struct bound *bound = xcalloc(1, sizeof *bound + uid_size + node_size);

    bound->item = job->item;
    bound->started = job->started;
    bound->ended = job->ended;
    bound->pod_bound = job->pod_bound;
    bound->node = bound->uid + uid_size;
    memcpy(bound->uid, job->pod_uid, uid_size);
    memcpy(bound->uid + uid_size, job->pod_node, node_size);
    return bound;
}

void binder_tell_later(struct job *job)
{
    struct binder *binder = job->binder;
    struct bound *bound = bound_of(job);

    list_push(&binder->items.later, &bound->in_later);
    bound->item->bound = bound;
    bound->item->job = NULL;
    job_free(job);
    rush_note(&binder->rush, nsec_now_monotonic());
    loop_task_queue(&binder->pump);
}

void binder_later_drop(struct item *item)
{
    struct bound *bound = item->bound;

    if (!bound)
        return;
    list_remove(&item->binder->items.later, &bound->in_later);
    item->bound = NULL;
    free(bound);
}

static void tell(struct bound *bound)
{
    struct item *item = bound->item;
    struct job *job = job_new(item);

    free(job->pod_uid);
    job->pod_uid = xstrdup(bound->uid);
    job->pod_node = xstrdup(bound->node);
    job->pod_bound = bound->pod_bound;
    job->started = bound->started;
    job->ended = bound->ended;
    job->is_telling = true;
    item->binder->items.telling++;
    binder_later_drop(item);
    job_tell(job);
}

void binder_later_pump(struct binder *binder)
{
    for (struct bound *bound; (bound = list_first(&binder->items.later, struct bound, in_later));) {
        nsec_t now = nsec_now_monotonic();
        /* When we stop, nothing is on its way any more. */
        nsec_t since = binder->is_stopping ? now - RUSH_LONGEST : bound->ended;
        nsec_t wait = rush_wait(&binder->rush, now, since, (uint32_t)binder->items.telling);

        if (wait > 0) {
            if (wait < NSEC_MAX)
                loop_timer_start(&binder->later_timer, wait);
            return;
        }
        tell(bound);
    }
}
