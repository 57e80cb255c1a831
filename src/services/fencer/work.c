/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What there is, the daemon's groups and the files, is compared with what the pods call for, and one difference after the
 * other is taken away. Nothing is remembered across a restart, and nothing has to be: the daemon and the folder say what
 * was done before. A file comes after its group and goes before it, so that a runtime that finds one finds a fence.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "frame/service.h"
#include "kube/client/chance.h"
#include "kube/follow/follow.h"
#include "services/fencer/cdi.h"
#include "services/fencer/fencer_internal.h"
#include "services/fencer/gpud_link.h"
#include "text/metrics.h"

#define LOOK_PERIOD (5 * NSEC_PER_SEC)

enum { SPEC_MAX = 64 << 10 };

static nsec_t next_wait(struct fencer *fencer, struct backoff *backoff)
{
    return backoff_next(backoff, chance_next(kube_client_chance(fencer->service->client)));
}

/* The daemon's groups. */

static bool has_group(const struct fencer *fencer, const char *fence)
{
    vec_foreach (&fencer->groups, name) {
        if (strcmp(*name, fence) == 0)
            return true;
    }
    return false;
}

static void note_group(struct fencer *fencer, const char *fence)
{
    if (!has_group(fencer, fence))
        vec_push(&fencer->groups, xstrdup(fence));
}

static void forget_group(struct fencer *fencer, const char *fence)
{
    for (uint32_t i = 0; i < fencer->groups.len; i++) {
        if (strcmp(fencer->groups.items[i], fence) != 0)
            continue;
        free(fencer->groups.items[i]);
        vec_swap_remove(&fencer->groups, i);
        return;
    }
}

/* Nobody answers: it is asked again what it has, since it may come back with less. */
static void daemon_is_away(struct fencer *fencer, const struct err *err)
{
    nsec_t wait = next_wait(fencer, &fencer->backoff);

    log_warn(fencer->service->log, "the GPU daemon does not answer; existing groups stay as they are", log_error(err),
             log_duration("again_after", wait));
    meter_set(fencer->daemon_up, 0);
    service_set_ready(fencer->service, false);
    fencer->is_listed = false;
    loop_timer_start(&fencer->timer, wait);
}

/* Files. */

static bool is_wanted(void *arg, const char *fence)
{
    return fencer_find(arg, fence) != NULL;
}

static void remove_file(struct fencer *fencer, const char *fence)
{
    struct err err = {0};

    if (cdi_remove(fencer->flags->cdi_dir, fence, &err) < 0)
        log_warn(fencer->service->log, "CDI device could not be removed; trying again", log_str("fence", fence),
                 log_error(&err));
}

static int put_file(struct fencer *fencer, const struct post *post, struct err *err)
{
    struct fence_files files;
    struct strbuf text;
    int r = fence_files_find(&fencer->places, &files, err);

    if (r < 0)
        return r;
    strbuf_init(&text, SPEC_MAX);
    cdi_write(post->pod.fence, &files, fencer->flags->gpud_folder, &text);
    r = cdi_put(fencer->flags->cdi_dir, post->pod.fence, &text, err);
    strbuf_done(&text);
    if (r > 0)
        meter_add(fencer->written, 1);
    return r;
}

/* A post that failed is left alone until something changes, or a while has passed. */
static void fail_post(struct fencer *fencer, struct post *post, const char *asked, const struct err *err)
{
    char *copy = xstrdup(asked);

    free(post->refused);
    post->refused = copy;
    post->due = nsec_now_monotonic() + next_wait(fencer, &post->backoff);
    meter_add(fencer->refusals, 1);
    post_complain(fencer, post, err);
}

static void check_files(struct fencer *fencer)
{
    struct err err = {0};

    if (cdi_sweep(fencer->flags->cdi_dir, is_wanted, fencer, &err) < 0)
        log_warn(fencer->service->log, "unused CDI devices could not be removed", log_error(&err));
    vec_foreach (&fencer->posts, at) {
        struct post *post = *at;

        if (post->done && has_group(fencer, post->pod.fence) && put_file(fencer, post, &err) < 0) {
            _cleanup_(freep) char *asked = TAKE_PTR(post->done);

            fail_post(fencer, post, asked, &err);
        }
    }
}

/* Questions to the daemon, and what follows from its answers. */

static void on_status(void *arg, const struct gpud_answer *answer)
{
    struct fencer *fencer = arg;
    yyjson_val *group;
    size_t i, max;

    if (answer->err.code < 0) {
        daemon_is_away(fencer, &answer->err);
        return;
    }
    vec_foreach (&fencer->groups, name)
        free(*name);
    vec_clear(&fencer->groups);
    yyjson_arr_foreach(yyjson_obj_get(answer->value, "groups"), i, max, group)
    {
        const char *name = yyjson_get_str(yyjson_obj_get(group, "group"));

        if (name && fence_name_is_good(name))
            note_group(fencer, name);
    }
    backoff_reset(&fencer->backoff);
    meter_set(fencer->daemon_up, 1);
    service_set_ready(fencer->service, true);
    fencer->is_listed = true;
    fencer->look_at = nsec_now_monotonic() + LOOK_PERIOD;
    check_files(fencer);
    loop_task_queue(&fencer->work);
}

static void on_removed(void *arg, const struct gpud_answer *answer)
{
    struct fencer *fencer = arg;

    if (answer->status == 0) {
        daemon_is_away(fencer, &answer->err);
        return;
    }
    /* One that is refused shows up when the daemon is asked again. */
    if (answer->err.code < 0 && answer->status != 404)
        log_warn(fencer->service->log, "group could not be removed; trying again", log_str("group", fencer->asking),
                 log_error(&answer->err));
    else
        log_info(fencer->service->log, "GPU isolation removed", log_str("group", fencer->asking));
    forget_group(fencer, fencer->asking);
    loop_task_queue(&fencer->work);
}

static void remove_group(struct fencer *fencer, const char *fence)
{
    char path[128];

    remove_file(fencer, fence);
    (void)snprintf(fencer->asking, sizeof fencer->asking, "%s", fence);
    /* Whatever is left of the pod's processes has lost its GPU. */
    (void)snprintf(path, sizeof path, "/v1/groups/%s?kill=true", fence);
    gpud_ask(fencer->gpud, "DELETE", path, NULL, on_removed, fencer);
}

static void post_is_done(struct fencer *fencer, struct post *post, const char *asked)
{
    struct err err = {0};

    note_group(fencer, post->pod.fence);
    if (put_file(fencer, post, &err) < 0) {
        fail_post(fencer, post, asked, &err);
        return;
    }
    log_info(fencer->service->log, post->done ? "GPU isolation changed" : "GPU isolation set up",
             log_str("namespace", post->pod.namespace), log_str("pod", post->pod.name),
             log_str("group", post->pod.fence));
    free(post->done);
    free(post->refused);
    free(post->told);
    post->done = xstrdup(asked);
    post->refused = post->told = NULL;
    backoff_reset(&post->backoff);
}

static void on_put(void *arg, const struct gpud_answer *answer)
{
    struct fencer *fencer = arg;
    struct post *post = fencer_find(fencer, fencer->asking);
    _cleanup_(freep) char *asked = TAKE_PTR(fencer->asked);

    if (answer->status == 0) {
        daemon_is_away(fencer, &answer->err);
        return;
    }
    if (answer->err.code == 0)
        note_group(fencer, fencer->asking);
    if (post && answer->err.code == 0) {
        post_is_done(fencer, post, asked);
    } else if (post) {
        /* A fence that stood before still stands, and so does its file. */
        if (!has_group(fencer, fencer->asking))
            remove_file(fencer, fencer->asking);
        fail_post(fencer, post, asked, &answer->err);
    }
    loop_task_queue(&fencer->work);
}

static void put_group(struct fencer *fencer, const struct post *post, char *ask)
{
    char path[128];

    (void)snprintf(fencer->asking, sizeof fencer->asking, "%s", post->pod.fence);
    (void)snprintf(path, sizeof path, "/v1/groups/%s", post->pod.fence);
    fencer->asked = ask;
    gpud_ask(fencer->gpud, "PUT", path, ask, on_put, fencer);
}

/* What to do next. */

static bool is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* What the post has to be asked for now, to be freed; NULL: nothing. `*wake` becomes the time when that may change. */
static char *post_next(struct fencer *fencer, struct post *post, nsec_t now, nsec_t *wake)
{
    struct err err;
    _cleanup_(freep) char *ask = sharer_ask(&post->pod, &fencer->keepers);

    if (!ask || (is_same(ask, post->done) && has_group(fencer, post->pod.fence)))
        return NULL;
    if (is_same(ask, post->refused) && now < post->due) {
        *wake = MIN(*wake, post->due);
        return NULL;
    }
    if (post->pod.problem) {
        (void)err_set(&err, -EINVAL, "%s", post->pod.problem);
        fail_post(fencer, post, ask, &err);
        *wake = MIN(*wake, post->due);
        return NULL;
    }
    return TAKE_PTR(ask);
}

void fencer_work(void *arg)
{
    struct fencer *fencer = arg;
    nsec_t now = nsec_now_monotonic();
    nsec_t wake = fencer->look_at;

    /* Before all pods have been seen, one may be missing only because it comes later. */
    if (fencer->is_stopping || gpud_is_asked(fencer->gpud) || !follower_is_synced(fencer->pods))
        return;
    if (!fencer->is_listed) {
        if (!loop_timer_is_running(&fencer->timer))
            gpud_ask(fencer->gpud, "GET", "/v1/status", NULL, on_status, fencer);
        return;
    }
    vec_foreach (&fencer->groups, name) {
        if (!fencer_find(fencer, *name)) {
            remove_group(fencer, *name);
            return;
        }
    }
    vec_foreach (&fencer->posts, post) {
        char *ask = post_next(fencer, *post, now, &wake);

        if (ask) {
            put_group(fencer, *post, ask);
            return;
        }
    }
    loop_timer_start(&fencer->timer, wake - now);
}

void fencer_look(void *arg)
{
    struct fencer *fencer = arg;

    fencer->is_listed = false;
    fencer_work(fencer);
}
