/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Shared GPUs that nobody needs are given back, and pods whose GPU nobody keeps for them are ended: another pod may be
 * given that GPU at any moment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "kube/client/backoff.h"
#include "kube/client/chance.h"
#include "kube/client/meta.h"
#include "kube/client/resource.h"
#include "objects/keys.h"
#include "services/binder/binder_internal.h"

#define AGAIN_FIRST (250 * NSEC_PER_MSEC)
#define AGAIN_MAX (30 * NSEC_PER_SEC)

/* A pod that is being deleted. */
struct removal {
    struct binder *binder;
    char *namespace;
    char *name;
    char *uid;
};

/* A server that is starting refuses what it grants a moment later, and nothing may change that would make us look again. */
static void look_again(struct binder *binder)
{
    if (!loop_timer_is_running(&binder->groups_timer))
        loop_timer_start(&binder->groups_timer,
                         backoff_next(&binder->groups_backoff, chance_next(kube_client_chance(binder->client))));
}

static void on_again(void *arg)
{
    struct binder *binder = arg;

    if (binder->is_ready && !binder->is_stopping)
        binder_sync_all(binder);
}

void binder_groups_init(struct binder *binder)
{
    binder->groups_backoff = (struct backoff){.first = AGAIN_FIRST, .max = AGAIN_MAX};
    loop_timer_init(&binder->groups_timer, binder->loop, on_again, binder);
}

static void on_removed(void *arg, const struct kube_answer *answer)
{
    struct removal *removal = arg;
    struct binder *binder = removal->binder;
    struct roster_pod *pod = roster_find(&binder->roster, removal->namespace, removal->name);

    if (answer->err.code < 0 && answer->status != 404 && answer->status != 409) {
        log_warn(binder->log, "pod could not be deleted; trying again", log_str("namespace", removal->namespace),
                 log_str("pod", removal->name), log_error(&answer->err));
        if (pod && strcmp(pod->uid, removal->uid) == 0)
            pod->is_deleting = false;
        look_again(binder);
    } else {
        backoff_reset(&binder->groups_backoff);
    }
    free(removal->namespace);
    free(removal->name);
    free(removal->uid);
    free(removal);
    binder_check_stopped(binder);
}

void binder_remove_pod(struct binder *binder, struct roster_pod *pod, bool has_grace)
{
    struct removal *removal = xcalloc(1, sizeof *removal);

    *removal = (struct removal){
        .binder = binder,
        .namespace = xstrdup(pod->namespace),
        .name = xstrdup(pod->name),
        .uid = xstrdup(pod->uid),
    };
    pod->is_deleting = true;
    (void)attempt_delete(&binder->attempts, kube_known(KUBE_PODS), pod->namespace, pod->name, pod->uid, has_grace,
                         on_removed, removal);
}

static void release_group(struct binder *binder, const struct roster_group *group)
{
    vec_foreach (&group->pods, at) {
        struct roster_pod *pod = *at;

        if (!pod->is_reservation || pod->is_deleting)
            continue;
        log_info(binder->log, "shared GPU released", log_str("group", group->id), log_str("pod", pod->name),
                 log_str("node", pod->node));
        binder_remove_pod(binder, pod, false);
    }
}

/* A look at the server before pods are ended: what we know may be behind. */
struct check {
    struct binder *binder;
    char *id;
    struct kube_call *call;
    struct check *next;
};

static void check_free(struct check *check)
{
    struct check **at = &check->binder->checks;

    while (*at != check)
        at = &(*at)->next;
    *at = check->next;
    free(check->id);
    free(check);
}

void binder_checks_drop(struct binder *binder)
{
    while (binder->checks) {
        kube_cancel(binder->checks->call);
        check_free(binder->checks);
    }
}

static void end_orphans(struct binder *binder, const struct roster_group *group)
{
    vec_foreach (&group->pods, at) {
        struct roster_pod *pod = *at;

        if (pod->is_reservation || !pod->is_ours || !pod->is_running || pod->is_deleting)
            continue;
        log_warn(binder->log, "deleting pod: its GPU is not reserved any more", log_str("namespace", pod->namespace),
                 log_str("pod", pod->name), log_str("group", group->id));
        binder_remove_pod(binder, pod, true);
    }
}

static void on_checked(void *arg, const struct kube_answer *answer)
{
    struct check *check = arg;
    struct binder *binder = check->binder;
    struct roster_group *group = roster_find_group(&binder->roster, check->id);
    yyjson_val *list = NULL;

    if (answer->err.code == 0 && kube_answer_object(answer, &list, NULL) == 0 &&
        yyjson_is_arr(yyjson_obj_get(list, "items")) && yyjson_arr_size(yyjson_obj_get(list, "items")) == 0 && group &&
        !binder_is_held(binder) && group_decide(group, binder_wants_group(binder, check->id)) == GROUP_ORPHANS)
        end_orphans(binder, group);
    else if (answer->err.code < 0)
        look_again(binder);
    check_free(check);
}

static void check_group(struct binder *binder, const char *id)
{
    char selector[400];

    for (struct check *check = binder->checks; check; check = check->next)
        if (strcmp(check->id, id) == 0)
            return;
    struct check *check = xcalloc(1, sizeof *check);
    *check = (struct check){.binder = binder, .id = xstrdup(id), .next = binder->checks};
    binder->checks = check;
    (void)snprintf(selector, sizeof selector, KEY_GPU_GROUP "=%s", id);
    check->call = kube_send(binder->client, &(struct kube_request){
                                                .verb = KUBE_LIST,
                                                .resource = kube_known(KUBE_PODS),
                                                .namespace = binder->reservation.namespace,
                                                .label_selector = selector,
                                                .limit = 1,
                                                .on_done = on_checked,
                                                .arg = check,
                                            });
}

static void sync_group(struct binder *binder, const struct roster_group *group)
{
    /* All groups are looked at when the pause is over. */
    if (binder_is_held(binder))
        return;
    switch (group_decide(group, binder_wants_group(binder, group->id))) {
    case GROUP_RELEASE:
        release_group(binder, group);
        break;
    case GROUP_ORPHANS:
        check_group(binder, group->id);
        break;
    case GROUP_FINE:
        break;
    }
}

void binder_sync_group(struct binder *binder, const char *id)
{
    struct roster_group *group = roster_find_group(&binder->roster, id);

    /* Before everything has been seen, a pod may be missing only because it comes later. */
    if (group && binder->is_ready && !binder->is_stopping)
        sync_group(binder, group);
}

void binder_sync_node(struct binder *binder, const char *node)
{
    struct roster_group *group;

    for (size_t cursor = 0; (group = roster_next_group(&binder->roster, &cursor));)
        if (group_is_on(group, node))
            sync_group(binder, group);
}

void binder_sync_all(struct binder *binder)
{
    struct roster_group *group;

    for (size_t cursor = 0; (group = roster_next_group(&binder->roster, &cursor));)
        sync_group(binder, group);
}
