/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The images of a pod. All are pulled and mounted before the first container starts, one after the other; meanwhile no work on
 * the pod is held up, so that it can be deleted at any time. Reasons and events are those that clients know of a kubelet.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/node/image/store.h"
#include "local/node/node_internal.h"
#include "local/node/pod/images.h"
#include "local/server/files.h"
#include "local/shim/shim.h"
#include "text/json.h"

enum { PLAN_BYTES_MAX = 64 << 20, MESSAGE_MAX = 2048, BACKOFF_SHIFT_MAX = 5 };

/* As a kubelet has it: 10 s, 20 s ... up to 5 minutes. */
#define BACKOFF_FIRST (10 * NSEC_PER_SEC)
#define BACKOFF_MAX (300 * NSEC_PER_SEC)
#define SHOWN_AT_LEAST (2 * NSEC_PER_SEC)

struct problem_words {
    const char *reason;   // of the container that waits
    const char *event;    // about the image
    const char *message;  // of that event, in front of the image's name
    const char *end;      // behind it; NULL: what went wrong
};

static const struct problem_words problems[] = {
    [IMAGE_BAD_NAME] = {"InvalidImageName", "InspectFailed", "Failed to apply default image tag", NULL},
    [IMAGE_ABSENT] = {"ErrImageNeverPull", "ErrImageNeverPull", "Container image",
                      "is not present with pull policy of Never"},
    [IMAGE_NOT_PULLED] = {"ErrImagePull", "Failed", "Failed to pull image", NULL},
    [IMAGE_NOT_READ] = {"ImageInspectError", "InspectFailed", "Failed to inspect image", NULL},
    [IMAGE_NOT_MOUNTED] = {"CreateContainerError", "Failed", "Failed to mount image", NULL},
};

static void record(struct node_pod *pod, const char *type, const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void record(struct node_pod *pod, const char *type, const char *reason, const char *format, ...)
{
    char message[MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    node_pod_record(pod, type, reason, message);
}

/* --- rows --- */

static void add_row(struct node_pod *pod, const char *container, const char *name, enum pull_policy policy)
{
    vec_push(&pod->images.rows,
             (struct pod_image){.container = xstrdup(container), .name = xstrdup(name), .policy = policy});
}

static void list_images(struct node_pod *pod)
{
    static const char *const lists[] = {"initContainers", "containers"};

    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        size_t i, max;
        yyjson_val *container;

        yyjson_arr_foreach(value_at(yyjson_doc_get_root(pod->object), "spec", lists[k]), i, max, container)
        {
            const char *name = kube_text(container, "image");

            if (!image_name_is_process(name) && !image_map_folder(pod->node->images, name))
                add_row(pod, kube_text(container, "name"), name, pull_policy_of(container));
        }
    }
    pod->images.is_listed = true;
}

static struct pod_image *first_missing(struct node_pod *pod)
{
    vec_foreach (&pod->images.rows, row) {
        if (!row->id || !image_store_is_mounted(pod->node->store, row->id))
            return row;
    }
    return NULL;
}

static void hold(struct node_pod *pod, struct pod_image *row, const char *id)
{
    if (row->id)
        return;
    row->id = xstrdup(id);
    image_store_hold(pod->node->store, row->id);
}

void node_pod_release_images(struct node_pod *pod)
{
    vec_foreach (&pod->images.rows, row) {
        if (row->id)
            image_store_release(pod->node->store, row->id);
    }
    pod_images_done(&pod->images);
}

void pod_images_done(struct pod_images *images)
{
    if (images->fetch)
        image_fetch_cancel(images->fetch);
    loop_timer_done(&images->again);
    vec_foreach (&images->rows, row) {
        free(row->container);
        free(row->name);
        free(row->id);
    }
    vec_done(&images->rows);
    *images = (struct pod_images){0};
}

/* --- fetches --- */

static void on_pulling(void *arg)
{
    struct node_pod *pod = arg;

    pod->images.is_pulling = true;
    record(pod, "Normal", "Pulling", "Pulling image \"%s\"", pod->images.rows.items[pod->images.at].name);
    node_pod_look(pod);
}

static void note_problem(struct node_pod *pod, struct pod_image *row, const struct image_result *result)
{
    nsec_t wait = BACKOFF_FIRST << MIN(row->failures, (uint32_t)BACKOFF_SHIFT_MAX);

    row->problem = result->problem;
    row->why = result->err;
    row->shown_at = 0;
    row->failures++;
    row->retry_at = nsec_now_boot() + MIN(wait, BACKOFF_MAX);
    const struct problem_words *words = &problems[row->problem];
    record(pod, "Warning", words->event, "%s \"%s\"%s %s", words->message, row->name, words->end ? "" : ":",
           words->end ? words->end : row->why.text);
}

static void on_fetched(void *arg, const struct image_result *result)
{
    struct node_pod *pod = arg;
    struct pod_image *row = &pod->images.rows.items[pod->images.at];

    pod->images.fetch = NULL;
    pod->images.is_pulling = false;
    if (result->problem != IMAGE_FINE) {
        note_problem(pod, row, result);
    } else {
        bool is_first = !row->id;

        hold(pod, row, result->id);
        row->problem = IMAGE_FINE;
        if (is_first && result->is_pulled)
            record(pod, "Normal", "Pulled", "Successfully pulled image \"%s\" in %lld.%03llds. Image size: %lld bytes.",
                   row->name, (long long)(result->took / NSEC_PER_SEC),
                   (long long)(result->took % NSEC_PER_SEC / NSEC_PER_MSEC), (long long)result->bytes);
        else if (is_first)
            record(pod, "Normal", "Pulled", "Container image \"%s\" already present on machine", row->name);
    }
    node_pod_look(pod);
}

static void fetch(struct node_pod *pod, struct pod_image *row)
{
    pod->images.at = (uint32_t)(row - pod->images.rows.items);
    pod->images.fetch = image_fetch_start(pod->node->store, &(struct image_request){
                                                                .name = row->name,
                                                                .policy = row->policy,
                                                                .id = row->id,
                                                                .on_pulling = on_pulling,
                                                                .on_done = on_fetched,
                                                                .arg = pod,
                                                            });
}

/* --- what the pod says --- */

static void on_shown(void *arg, const struct kube_answer *answer)
{
    struct node_pod *pod = arg;

    pod->call = NULL;
    /* It is a courtesy: the next status comes in any case. */
    (void)answer;
    work_done(pod->node->work, &pod->work, NULL);
}

/* A pull takes long: meanwhile the containers are seen to wait. */
static void show_pull(struct node_pod *pod)
{
    yyjson_mut_doc *doc = notice_waiting(yyjson_doc_get_root(pod->object), NULL, "ContainerCreating", "");

    pod->images.is_pulling = false;
    pod->call = notice_send(pod, doc, on_shown);
    yyjson_mut_doc_free(doc);
}

static void look_again(void *arg)
{
    node_pod_look(arg);
}

/* A failed pull is seen for a moment, and then to back off; other problems stay as they are. A deletion is not held up: work on
 * the pod is over until the timer fires. */
static void show_problem(struct node_pod *pod, struct pod_image *row)
{
    nsec_t now = nsec_now_boot();

    row->shown_at = row->shown_at ? row->shown_at : now;
    bool is_pull = row->problem == IMAGE_NOT_PULLED;
    bool is_backoff = is_pull && now - row->shown_at >= SHOWN_AT_LEAST;
    nsec_t until = is_pull && !is_backoff ? MIN(row->shown_at + SHOWN_AT_LEAST, row->retry_at) : row->retry_at;
    const char *reason = is_backoff ? "ImagePullBackOff" : problems[row->problem].reason;
    char message[MESSAGE_MAX], event[MESSAGE_MAX];

    (void)snprintf(message, sizeof message, "%s%s%s%s", is_backoff ? "Back-off pulling image \"" : "",
                   is_backoff ? row->name : "", is_backoff ? "\": ErrImagePull: " : "", row->why.text);
    (void)snprintf(event, sizeof event, "Error: %s", reason);
    if (is_backoff && !row->is_backoff_told)
        record(pod, "Normal", "BackOff", "Back-off pulling image \"%s\"", row->name);
    row->is_backoff_told = is_backoff;
    loop_timer_start(&pod->images.again, until - now);
    node_pod_wait_for(pod, &(struct pod_waiting){.container = row->container,
                                                 .reason = reason,
                                                 .message = message,
                                                 .event = "Failed",
                                                 .event_message = event,
                                                 .is_timed = true});
}

/* Brings the images of its rows in. Returns whether all are there; otherwise work on the pod is over for now. */
static bool bring_in(struct node_pod *pod)
{
    struct pod_image *row = first_missing(pod);

    if (!row)
        return true;
    if (!pod->images.again.handle)
        loop_timer_init(&pod->images.again, pod->node->service->loop, look_again, pod);
    if (pod->images.fetch && pod->images.is_pulling) {
        show_pull(pod);
    } else if (pod->images.fetch) {
        work_done(pod->node->work, &pod->work, NULL);
    } else if (row->problem != IMAGE_FINE && nsec_now_boot() < row->retry_at) {
        show_problem(pod, row);
    } else {
        fetch(pod, row);
        work_done(pod->node->work, &pod->work, NULL);
    }
    return false;
}

bool node_pod_has_images(struct node_pod *pod)
{
    if (!pod->node->has_podman)
        return true;
    if (!pod->images.is_listed)
        list_images(pod);
    return bring_in(pod);
}

/* --- pods that an earlier daemon has started --- */

void node_pod_restore_images(struct node_pod *pod)
{
    _cleanup_(freep) char *path = file_path(pod->folder, POD_PLAN);
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    size_t i, max;
    yyjson_val *key, *plan;

    if (!pod->node->store || json_read_file(path, PLAN_BYTES_MAX, &doc, NULL) < 0)
        return;
    yyjson_obj_foreach(value_at(yyjson_doc_get_root(doc), "containers"), i, max, key, plan)
    {
        const char *id = image_store_id(pod->node->store, kube_text(plan, "root"));

        if (!id)
            continue;
        add_row(pod, yyjson_get_str(key), kube_text(plan, "imageID"), PULL_NEVER);
        hold(pod, &vec_last(&pod->images.rows), id);
    }
    pod->images.is_listed = true;
    pod->images.is_awaited = first_missing(pod) != NULL;
}

void node_pod_resume(struct node_pod *pod)
{
    if (!bring_in(pod))
        return;
    pod->images.is_awaited = false;
    node_pod_follow(pod);
    work_done(pod->node->work, &pod->work, NULL);
}
