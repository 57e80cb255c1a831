/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A fetch goes from one job to the next: the image is looked up, perhaps pulled, and mounted. A job is a command of podman, or
 * two for a mount, with all fetches that wait for it. Jobs of a lane start in the order in which they were asked for.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "local/node/image/mounted.h"
#include "local/node/image/store_internal.h"
#include "local/server/files.h"

enum job_kind { JOB_INSPECT, JOB_PULL, JOB_MOUNT };

static const uint32_t lane_width[_LANE_MAX] = {[LANE_QUICK] = 1, [LANE_PULL] = 3};

struct job {
    struct list_link in_lane;
    struct image_store *store;
    enum job_kind kind;
    char *key;  // the name or the id
    struct list fetches;
    struct process *process;  // NULL: none runs now
    bool is_running;
    bool is_unmounting;   // our mount is made, and podman's is given back
    struct err mounting;  // how ours went
};

struct image_fetch {
    struct list_link in_list;  // of its job, or of those that are over
    struct job *job;           // NULL: it is over, and about to be told so
    struct image_store *store;
    enum pull_policy policy;
    char *name;              // in full; NULL: the name is wrong, or only the id counts
    char id[PODMAN_ID_MAX];  // once it is known; the fetch is a user of the image from then on
    struct image_result result;
    nsec_t pull_began;
    bool is_pull_told;
    void (*on_pulling)(void *arg);
    void (*on_done)(void *arg, const struct image_result *result);
    void *arg;
};

static enum image_lane lane_of(enum job_kind kind)
{
    return kind == JOB_PULL ? LANE_PULL : LANE_QUICK;
}

static void fetch_free(struct image_fetch *fetch)
{
    if (*fetch->id)
        image_store_release(fetch->store, fetch->id);
    free(fetch->name);
    free(fetch);
}

static void fetch_know(struct image_fetch *fetch, const char *id)
{
    (void)snprintf(fetch->id, sizeof fetch->id, "%s", id);
    image_store_hold(fetch->store, fetch->id);
}

/* It is over; whoever asked is told in the next round of the loop. */
static void finish(struct image_fetch *fetch, enum image_problem problem, const struct err *err)
{
    fetch->result.problem = problem;
    fetch->result.err = *err;
    fetch->result.id = fetch->id;
    list_push(&fetch->store->over, &fetch->in_list);
    loop_task_queue(&fetch->store->turn);
}

static void tell_over(struct image_store *store)
{
    struct image_fetch *fetch;

    while ((fetch = list_first(&store->over, struct image_fetch, in_list))) {
        list_remove(&store->over, &fetch->in_list);
        fetch->on_done(fetch->arg, &fetch->result);
        fetch_free(fetch);
    }
}

static struct image_fetch *find_untold_in(const struct list *jobs)
{
    for (struct list_link *link = jobs->first; link; link = link->next) {
        struct list_link *in_list = list_item(link, struct job, in_lane)->fetches.first;

        for (; in_list; in_list = in_list->next) {
            struct image_fetch *fetch = list_item(in_list, struct image_fetch, in_list);

            if (!fetch->is_pull_told)
                return fetch;
        }
    }
    return NULL;
}

/* One that waits for a pull and has not been told so. */
static struct image_fetch *find_untold(const struct image_store *store)
{
    struct image_fetch *fetch = find_untold_in(&store->running[LANE_PULL]);

    return fetch ? fetch : find_untold_in(&store->waiting[LANE_PULL]);
}

static void tell_pulls(struct image_store *store)
{
    struct image_fetch *fetch;

    while ((fetch = find_untold(store))) {
        fetch->is_pull_told = true;
        fetch->on_pulling(fetch->arg);
    }
}

static struct job *find_job(const struct list *jobs, enum job_kind kind, const char *key)
{
    for (struct list_link *link = jobs->first; link; link = link->next) {
        struct job *job = list_item(link, struct job, in_lane);

        if (job->kind == kind && strcmp(job->key, key) == 0)
            return job;
    }
    return NULL;
}

/* The fetch waits for a job of this kind, with others that want the same. */
static void join(struct image_fetch *fetch, enum job_kind kind, const char *key)
{
    struct image_store *store = fetch->store;
    enum image_lane lane = lane_of(kind);
    struct job *job = find_job(&store->running[lane], kind, key);

    if (!job)
        job = find_job(&store->waiting[lane], kind, key);
    if (!job) {
        job = xcalloc(1, sizeof *job);
        *job = (struct job){.store = store, .kind = kind, .key = xstrdup(key)};
        list_push(&store->waiting[lane], &job->in_lane);
    }
    fetch->job = job;
    list_push(&job->fetches, &fetch->in_list);
    loop_task_queue(&store->turn);
}

static void join_pull(struct image_fetch *fetch)
{
    fetch->pull_began = nsec_now_boot();
    join(fetch, JOB_PULL, fetch->name);
}

static void after_inspect(struct image_fetch *fetch, const struct podman_image *image, const struct err *err)
{
    bool is_absent = err->code == -ENOENT && !fetch->result.is_pulled;

    if (is_absent && fetch->policy == PULL_NEVER) {
        finish(fetch, IMAGE_ABSENT, err);
    } else if (is_absent) {
        join_pull(fetch);
    } else if (err->code < 0) {
        finish(fetch, IMAGE_NOT_READ, err);
    } else {
        fetch_know(fetch, image->id);
        fetch->result.bytes = image->bytes;
        if (image_store_is_mounted(fetch->store, fetch->id))
            finish(fetch, IMAGE_FINE, &(struct err){0});
        else
            join(fetch, JOB_MOUNT, fetch->id);
    }
}

/* By its number: the name may stand for an image of this machine as well. */
static void after_pull(struct image_fetch *fetch, const char *id, const struct err *err)
{
    if (err->code < 0) {
        finish(fetch, IMAGE_NOT_PULLED, err);
        return;
    }
    fetch->result.is_pulled = true;
    fetch->result.took = nsec_now_boot() - fetch->pull_began;
    join(fetch, JOB_INSPECT, id);
}

/* --- jobs --- */

/* The job is in no lane any more. */
static void job_free(struct job *job)
{
    if (job->process)
        process_cancel(job->process);
    free(job->key);
    free(job);
}

/* The fetches of a job that is over; each goes on by itself. */
static struct list job_end(struct job *job)
{
    struct list fetches = job->fetches;

    list_remove(&job->store->running[lane_of(job->kind)], &job->in_lane);
    job_free(job);
    return fetches;
}

static struct image_fetch *take_next(struct list *fetches)
{
    struct image_fetch *fetch = list_first(fetches, struct image_fetch, in_list);

    if (fetch) {
        list_remove(fetches, &fetch->in_list);
        fetch->job = NULL;
    }
    return fetch;
}

static void end_inspect(struct job *job, const struct process_result *result)
{
    struct image_store *store = job->store;
    struct podman_image image = {0};
    struct image_fetch *fetch;
    struct err err = {0};

    err.code = podman_read_image(result, &image, &err);
    /* A mounted image has its configuration, and one that nobody wants any more needs none. */
    if (err.code == 0 && job->fetches.len > 0 && !image_store_is_mounted(store, image.id)) {
        _cleanup_(freep) char *path = image_store_config(store, image.id);

        err.code = file_replace(path, result->output, result->output_len, &err);
    }
    for (struct list fetches = job_end(job); (fetch = take_next(&fetches));)
        after_inspect(fetch, &image, &err);
}

static void end_pull(struct job *job, const struct process_result *result)
{
    char id[PODMAN_ID_MAX] = "";
    struct image_fetch *fetch;
    struct err err = {0};

    err.code = podman_read_pulled(result, id, &err);
    for (struct list fetches = job_end(job); (fetch = take_next(&fetches));)
        after_pull(fetch, id, &err);
}

static void end_mount(struct job *job)
{
    const struct err err = job->mounting;
    /* If nobody waits for it any more, it goes again. */
    struct image_use *use = image_store_use(job->store, job->key);
    struct image_store *store = job->store;
    struct image_fetch *fetch;

    for (struct list fetches = job_end(job); (fetch = take_next(&fetches));)
        finish(fetch, err.code < 0 ? IMAGE_NOT_MOUNTED : IMAGE_FINE, &err);
    image_store_end_unused(store, use);
}

static void on_ended(void *arg, const struct process_result *result);

/* Our mount is made while podman's is there, which is given back in any case. */
static void go_on_mounting(struct job *job, const struct process_result *result)
{
    _cleanup_(freep) char *folder = image_store_folder(job->store, job->key);
    char path[PATH_MAX];

    job->mounting.code = podman_read_mount(result, path, &job->mounting);
    bool is_theirs = job->mounting.code == 0;
    if (is_theirs && !mounted_is(folder))
        job->mounting.code = mounted_make(path, folder, &job->mounting);
    job->is_unmounting = true;
    if (!is_theirs || podman_start(job->store->loop, PODMAN_UNMOUNT, job->key, on_ended, job, &job->process, NULL) < 0)
        end_mount(job);
}

static void on_ended(void *arg, const struct process_result *result)
{
    struct job *job = arg;

    job->process = NULL;
    loop_task_queue(&job->store->turn);
    if (job->kind == JOB_INSPECT)
        end_inspect(job, result);
    else if (job->kind == JOB_PULL)
        end_pull(job, result);
    else if (job->is_unmounting)
        end_mount(job);
    else
        go_on_mounting(job, result);
}

/* The first job of those that wait. */
static void start_next(struct image_store *store, enum image_lane lane)
{
    static const enum podman_verb verbs[] = {
        [JOB_INSPECT] = PODMAN_INSPECT, [JOB_PULL] = PODMAN_PULL, [JOB_MOUNT] = PODMAN_MOUNT};
    struct job *job = list_first(&store->waiting[lane], struct job, in_lane);
    struct process_result failed = {.output = "", .complaints = ""};

    list_remove(&store->waiting[lane], &job->in_lane);
    list_push(&store->running[lane], &job->in_lane);
    job->is_running = true;
    if (podman_start(store->loop, verbs[job->kind], job->key, on_ended, job, &job->process, &failed.err) < 0)
        on_ended(job, &failed);
}

void image_store_take_turn(void *arg)
{
    struct image_store *store = arg;

    for (enum image_lane lane = 0; lane < _LANE_MAX; lane++) {
        while (store->waiting[lane].len > 0 && store->running[lane].len < lane_width[lane])
            start_next(store, lane);
    }
    tell_pulls(store);
    tell_over(store);
}

/* --- requests --- */

struct image_fetch *image_fetch_start(struct image_store *store, const struct image_request *request)
{
    struct image_fetch *fetch = xcalloc(1, sizeof *fetch);
    struct err err = {0};

    *fetch = (struct image_fetch){.store = store,
                                  .policy = request->policy,
                                  .on_pulling = request->on_pulling,
                                  .on_done = request->on_done,
                                  .arg = request->arg};
    if (request->id) {
        fetch->policy = PULL_NEVER;
        join(fetch, JOB_INSPECT, request->id);
    } else if (image_name_full(request->name, &fetch->name, &err) < 0) {
        finish(fetch, IMAGE_BAD_NAME, &err);
    } else if (fetch->policy == PULL_ALWAYS) {
        join_pull(fetch);
    } else {
        join(fetch, JOB_INSPECT, fetch->name);
    }
    return fetch;
}

void image_fetch_cancel(struct image_fetch *fetch)
{
    struct image_store *store = fetch->store;
    struct job *job = fetch->job;

    list_remove(job ? &job->fetches : &store->over, &fetch->in_list);
    /* podman is not interrupted while it mounts. */
    if (job && job->fetches.len == 0 && (!job->is_running || job->kind == JOB_PULL)) {
        enum image_lane lane = lane_of(job->kind);

        list_remove(job->is_running ? &store->running[lane] : &store->waiting[lane], &job->in_lane);
        job_free(job);
        loop_task_queue(&store->turn);
    }
    fetch_free(fetch);
}

static void end_all(struct list *jobs)
{
    struct job *job;

    while ((job = list_first(jobs, struct job, in_lane))) {
        list_remove(jobs, &job->in_lane);
        job_free(job);
    }
}

void image_store_end_jobs(struct image_store *store)
{
    for (enum image_lane lane = 0; lane < _LANE_MAX; lane++) {
        end_all(&store->waiting[lane]);
        end_all(&store->running[lane]);
    }
}
