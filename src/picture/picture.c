/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "frame/service.h"
#include "kube/client/meta.h"
#include "kube/follow/follow.h"
#include "net/loop.h"
#include "objects/keys.h"
#include "picture/board.h"
#include "picture/picture_rows.h"
#include "text/json.h"
#include "views/objects.h"

#define PASS_INTERVAL (250 * NSEC_PER_MSEC)
#define KEPT_FOR (5 * NSEC_PER_MIN)

enum { PASS_SHARE = 10 };  // a pass that took a second is followed by ten without one

struct kept {
    char *namespace, *name;
    yyjson_doc *doc;
};

struct kind {
    struct picture *picture;
    struct follower *follower;
    struct strmap objects;
};

struct picture {
    struct service *service;
    void (*on_change)(void *arg);
    void *arg;
    struct kind kinds[_VIEW_KIND_MAX];
    struct board board;
    struct loop_timer pass;
    struct loop_timer idle;
    uint32_t holders;
    bool is_following, is_ready, is_dirty, has_failed;
    uint64_t told;  // sequence of the board that on_change has been called for
    nsec_t last_end, last_cost;
};

static void kept_free(struct kept *kept)
{
    free(kept->namespace);
    free(kept->name);
    yyjson_doc_free(kept->doc);
    free(kept);
}

static void forget_object(struct kind *kind, const char *namespace, const char *name)
{
    struct kept *kept = strmap_remove(&kind->objects, namespace, name);

    if (kept)
        kept_free(kept);
}

/* Who wrote which field is often more text than the object. */
static yyjson_doc *copy_of(yyjson_val *object)
{
    yyjson_mut_doc *copy = kube_copy(object);
    yyjson_doc *doc = NULL;

    if (copy) {
        (void)yyjson_mut_obj_remove_key(yyjson_mut_obj_get(copy->root, "metadata"), "managedFields");
        doc = yyjson_mut_doc_imut_copy(copy, NULL);
    }
    yyjson_mut_doc_free(copy);
    return doc;
}

static nsec_t next_pass_after(const struct picture *picture)
{
    nsec_t interval = MAX(PASS_INTERVAL, picture->last_cost * PASS_SHARE);

    return picture->last_end == 0 ? 0 : MAX(picture->last_end + interval - nsec_now_monotonic(), 0);
}

static void set_dirty(struct picture *picture)
{
    picture->is_dirty = true;
    if (picture->is_ready && picture->holders > 0 && !loop_timer_is_running(&picture->pass))
        loop_timer_start(&picture->pass, next_pass_after(picture));
}

static void on_event(void *arg, const struct follow_event *event)
{
    struct kind *kind = arg;

    forget_object(kind, event->namespace, event->name);
    if (event->change != FOLLOW_DELETED && event->object) {
        struct kept *kept = xcalloc(1, sizeof *kept);

        *kept = (struct kept){xstrdup(event->namespace), xstrdup(event->name), copy_of(event->object)};
        (void)strmap_put(&kind->objects, kept->namespace, kept->name, kept);
    }
    set_dirty(kind->picture);
}

/* Fills `objects` with all that is kept, in no order. */
static void gather(const struct picture *picture, struct view_objects *objects)
{
    for (size_t kind = 0; kind < _VIEW_KIND_MAX; kind++) {
        const struct strmap *map = &picture->kinds[kind].objects;
        const struct kept *kept;

        vec_reserve(&objects->of[kind], map->len);
        for (size_t cursor = 0; (kept = strmap_next(map, &cursor));) {
            if (kept->doc)
                vec_push(&objects->of[kind], yyjson_doc_get_root(kept->doc));
        }
    }
}

static void make_rows(struct picture *picture)
{
    nsec_t begin = nsec_now_monotonic();
    struct view_objects objects = {0};
    struct err err = {0};

    gather(picture, &objects);
    int r = picture_rows_make(&picture->board, &objects, nsec_now_wall(), &err);

    /* Told once, not at every pass. */
    if (r < 0 && !picture->has_failed)
        log_warn(picture->service->log, "the figures of queues on the page are not up to date", log_error(&err));
    picture->has_failed = r < 0;
    view_objects_done(&objects);
    picture->is_dirty = false;
    picture->last_end = nsec_now_monotonic();
    picture->last_cost = picture->last_end - begin;
}

static void on_pass(void *arg)
{
    struct picture *picture = arg;

    if (picture->is_dirty)
        make_rows(picture);
    if (picture->told == picture->board.sequence)
        return;
    picture->told = picture->board.sequence;
    picture->on_change(picture->arg);
}

static void on_synced(void *arg, bool is_first)
{
    struct picture *picture = ((const struct kind *)arg)->picture;

    (void)is_first;
    for (size_t i = 0; i < _VIEW_KIND_MAX; i++) {
        if (!follower_is_synced(picture->kinds[i].follower))
            return;
    }
    if (picture->is_ready)
        return;
    picture->is_ready = true;
    make_rows(picture);
    picture->told = picture->board.sequence;
    picture->on_change(picture->arg);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((const struct kind *)arg)->picture->service, "objects of the page", err, wait);
}

static void follow_all(struct picture *picture)
{
    picture->is_following = true;
    for (size_t i = 0; i < _VIEW_KIND_MAX; i++) {
        struct kind *kind = &picture->kinds[i];

        kind->picture = picture;
        kind->follower = follower_new(picture->service->client, &(struct follow_options){
                                                                    .resource = view_resource((enum view_kind)i),
                                                                    .on_event = on_event,
                                                                    .on_synced = on_synced,
                                                                    .on_problem = on_problem,
                                                                    .arg = kind,
                                                                });
    }
}

static void unfollow_all(struct picture *picture)
{
    for (size_t i = 0; i < _VIEW_KIND_MAX; i++) {
        struct kind *kind = &picture->kinds[i];
        struct kept *kept;

        if (kind->follower)
            follower_free(TAKE_PTR(kind->follower));
        for (size_t cursor = 0; (kept = strmap_next(&kind->objects, &cursor));)
            kept_free(kept);
        strmap_done(&kind->objects);
    }
    picture->is_following = picture->is_ready = false;
}

static void on_idle(void *arg)
{
    unfollow_all(arg);
}

struct picture *picture_new(struct service *service, void (*on_change)(void *arg), void *arg)
{
    struct picture *picture = xcalloc(1, sizeof *picture);

    *picture = (struct picture){.service = service, .on_change = on_change, .arg = arg};
    board_init(&picture->board);
    loop_timer_init(&picture->pass, service->loop, on_pass, picture);
    loop_timer_init(&picture->idle, service->loop, on_idle, picture);
    return picture;
}

void picture_free(struct picture *picture)
{
    unfollow_all(picture);
    loop_timer_done(&picture->pass);
    loop_timer_done(&picture->idle);
    board_done(&picture->board);
    free(picture);
}

void picture_hold(struct picture *picture)
{
    picture->holders++;
    loop_timer_stop(&picture->idle);
    if (!picture->is_following)
        follow_all(picture);
    if (picture->is_dirty)
        set_dirty(picture);
}

void picture_release(struct picture *picture)
{
    BUG_ON(picture->holders == 0);
    if (--picture->holders == 0)
        loop_timer_start(&picture->idle, KEPT_FOR);
}

bool picture_is_ready(const struct picture *picture)
{
    return picture->is_ready;
}

const struct board *picture_board(struct picture *picture)
{
    /* Others are told by the timer, so that this may be called from within on_change. */
    if (picture->is_dirty) {
        make_rows(picture);
        loop_timer_start(&picture->pass, 0);
    }
    return &picture->board;
}

void picture_each(const struct picture *picture, enum view_kind kind, void (*fn)(void *arg, yyjson_val *object),
                  void *arg)
{
    const struct kept *kept;

    for (size_t cursor = 0; (kept = strmap_next(&picture->kinds[kind].objects, &cursor));) {
        if (kept->doc)
            fn(arg, yyjson_doc_get_root(kept->doc));
    }
}

const char *picture_pod_group(const struct picture *picture, const char *namespace, const char *pod)
{
    const struct kept *kept = strmap_get(&picture->kinds[VIEW_PODS].objects, namespace, pod);

    return kept && kept->doc ? kube_text(yyjson_doc_get_root(kept->doc), "metadata", "annotations", KEY_POD_GROUP)
                             : NULL;
}

char *picture_workload_group(struct picture *picture, const char *namespace, const char *kind, const char *name)
{
    struct strbuf id;

    strbuf_init(&id, WORKLOAD_ID_MAX);
    workload_id_add(&id, namespace, kind, name);
    const char *row = board_row(picture_board(picture), BOARD_WORKLOADS, id.text);
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    bool is_there = row && json_parse(row, strlen(row), "the row", &doc, NULL) == 0;

    strbuf_done(&id);
    return xstrdup(is_there ? kube_text(yyjson_doc_get_root(doc), "podGroup") : "");
}
