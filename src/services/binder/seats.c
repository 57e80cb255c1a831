/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Getting a GPU for a group: find the pod that keeps it, or make it, and wait until it says which GPU it has got. There
 * is one seat for a group, however many wait for it. The name of the pod follows from node and group, so that a second
 * one cannot be made, also not by another binder or by us after a crash.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "kube/client/meta.h"
#include "kube/client/resource.h"
#include "objects/keys.h"
#include "services/binder/binder_internal.h"
#include "services/binder/documents/document.h"
#include "services/binder/documents/write.h"

enum { TRIES = 8 };

struct waiter {
    seat_fn fn;
    void *arg;
    size_t index;
};

struct seat {
    struct binder *binder;
    char *group;
    char *node;
    char name[RESERVATION_NAME_MAX];
    yyjson_mut_doc *pod;  // to be made
    VEC(struct waiter) waiters;
    struct attempt *attempt;  // to make it, or to delete one that is over
    struct kube_call *call;   // to look at one that is there
    struct loop_timer timer;
    uint32_t tries_left;
    struct seat *next;
};

static void seat_look(struct seat *seat);

/* Takes it out of the list and gives back all but the waiters. */
static void seat_detach(struct seat *seat)
{
    struct seat **at = &seat->binder->seats;

    while (*at != seat)
        at = &(*at)->next;
    *at = seat->next;
    attempt_cancel(seat->attempt);
    kube_cancel(seat->call);
    loop_timer_done(&seat->timer);
    yyjson_mut_doc_free(seat->pod);
    free(seat->node);
}

static void seat_free(struct seat *seat)
{
    vec_done(&seat->waiters);
    free(seat->group);
    free(seat);
}

void binder_seats_drop(struct binder *binder)
{
    struct seat *next;

    for (struct seat *seat = binder->seats; seat; seat = next) {
        next = seat->next;
        seat_detach(seat);
        seat_free(seat);
    }
}

static void seat_finish(struct seat *seat, const char *gpu, const struct err *err)
{
    _cleanup_(freep) char *copy = gpu ? xstrdup(gpu) : NULL;

    seat_detach(seat);
    vec_foreach (&seat->waiters, waiter)
        waiter->fn(waiter->arg, waiter->index, copy, err);
    seat_free(seat);
}

static void seat_fail(struct seat *seat, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void seat_fail(struct seat *seat, int code, const char *format, ...)
{
    struct err err = {0};
    char text[400];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    (void)err_set(&err, code, "GPU group %s: %s", seat->group, text);
    seat_finish(seat, NULL, &err);
}

static void on_cleared(void *arg, const struct kube_answer *answer)
{
    struct seat *seat = arg;

    seat->attempt = NULL;
    if (answer->err.code < 0 && answer->status != 404) {
        seat_fail(seat, answer->err.code, "%s", answer->err.text);
        return;
    }
    seat_look(seat);
}

/*
 * Takes in what an answer says of the pod. That looks at this seat as well, and may end it, unless nothing is new: the
 * watch may have told it all, also which GPU it is, while we waited for the answer.
 */
static void seat_learn(struct seat *seat, yyjson_val *pod)
{
    struct binder *binder = seat->binder;

    binder_pod_seen(binder, pod);
    for (const struct seat *one = binder->seats; one; one = one->next)
        if (one == seat) {
            seat_look(seat);
            return;
        }
}

/* One is there that we did not know of: it came before our watch has told, or it is over and in the way. */
static void on_found(void *arg, const struct kube_answer *answer)
{
    struct seat *seat = arg;
    struct binder *binder = seat->binder;
    struct err err = answer->err;
    yyjson_val *pod = NULL;

    seat->call = NULL;
    if (answer->status == 404) {
        seat_look(seat);
        return;
    }
    if (err.code < 0 || kube_answer_object(answer, &pod, &err) < 0) {
        seat_fail(seat, err.code, "%s", err.text);
        return;
    }
    const char *phase = kube_text(pod, "status", "phase");

    if (strcmp(label_of(pod, KEY_GPU_GROUP), seat->group) != 0) {
        seat_fail(seat, -EEXIST, "pod %s/%s has the name of a reservation pod but is none; delete it",
                  binder->reservation.namespace, seat->name);
    } else if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0) {
        seat->attempt = attempt_delete(&binder->attempts, kube_known(KUBE_PODS), binder->reservation.namespace,
                                       seat->name, kube_text(pod, "metadata", "uid"), false, on_cleared, seat);
    } else {
        seat_learn(seat, pod);
    }
}

static void on_created(void *arg, const struct kube_answer *answer)
{
    struct seat *seat = arg;
    struct binder *binder = seat->binder;
    struct err err = answer->err;
    yyjson_val *pod = NULL;

    seat->attempt = NULL;
    if (answer->status == 409) {
        seat->call = kube_send(binder->client, &(struct kube_request){
                                                   .verb = KUBE_GET,
                                                   .resource = kube_known(KUBE_PODS),
                                                   .namespace = binder->reservation.namespace,
                                                   .name = seat->name,
                                                   .on_done = on_found,
                                                   .arg = seat,
                                               });
        return;
    }
    if (err.code < 0 || kube_answer_object(answer, &pod, &err) < 0) {
        seat_fail(seat, err.code, "%s", err.text);
        return;
    }
    log_info(binder->log, "GPU reserved", log_str("group", seat->group), log_str("node", seat->node),
             log_str("pod", seat->name));
    seat_learn(seat, pod);
}

static void create(struct seat *seat)
{
    struct binder *binder = seat->binder;

    if (binder->roster.scaling > 0) {
        seat_fail(seat, -EAGAIN, "cluster is scaling up, could not create reservation pod");
        return;
    }
    if (seat->tries_left-- == 0) {
        seat_fail(seat, -EAGAIN, "reservation pod %s/%s is deleted repeatedly", binder->reservation.namespace,
                  seat->name);
        return;
    }
    seat->attempt = attempt_start(&binder->attempts, &(struct attempt_request){
                                                         .verb = KUBE_CREATE,
                                                         .resource = kube_known(KUBE_PODS),
                                                         .namespace = binder->reservation.namespace,
                                                         .body = seat->pod,
                                                         .on_done = on_created,
                                                         .arg = seat,
                                                     });
}

static void seat_look(struct seat *seat)
{
    struct roster_pod *pod = roster_reservation(roster_find_group(&seat->binder->roster, seat->group));

    if (seat->attempt || seat->call)
        return;
    if (!pod) {
        create(seat);
    } else if (pod->is_deleting) {
        return;  // until it is gone
    } else if (strcmp(pod->node, seat->node) != 0) {
        seat_fail(seat, -EXDEV, "is on node %s, not on %s", pod->node, seat->node);
    } else if (pod->gpu[0]) {
        seat_finish(seat, pod->gpu, NULL);
    }
}

static void on_timeout(void *arg)
{
    struct seat *seat = arg;
    struct binder *binder = seat->binder;
    struct roster_pod *pod = roster_reservation(roster_find_group(&binder->roster, seat->group));
    char timeout[DURATION_TEXT_MAX];

    if (pod && !pod->is_deleting)
        binder_remove_pod(binder, pod, false);
    seat_fail(seat, -ETIMEDOUT, "reservation pod %s/%s on node %s did not report its GPU within %s",
              binder->reservation.namespace, seat->name, seat->node,
              duration_format(binder->reservation.timeout, timeout));
}

static void on_begin(void *arg)
{
    struct seat *seat = arg;

    seat->timer.fn = on_timeout;
    loop_timer_start(&seat->timer, seat->binder->reservation.timeout);
    seat_look(seat);
}

void binder_reserve(struct binder *binder, const char *node, const char *group, yyjson_val *tolerations, seat_fn fn,
                    void *arg, size_t index)
{
    struct seat *seat = binder->seats;

    while (seat && (strcmp(seat->group, group) != 0 || strcmp(seat->node, node) != 0))
        seat = seat->next;
    if (!seat) {
        seat = xcalloc(1, sizeof *seat);
        seat->binder = binder;
        seat->group = xstrdup(group);
        seat->node = xstrdup(node);
        seat->tries_left = TRIES;
        seat->pod = write_reservation(&binder->reservation, node, group, tolerations);
        (void)reservation_name(node, group, seat->name);
        loop_timer_init(&seat->timer, binder->loop, on_begin, seat);
        /* Not from within the call of whoever asks. */
        loop_timer_start(&seat->timer, 0);
        seat->next = binder->seats;
        binder->seats = seat;
    }
    vec_push(&seat->waiters, (struct waiter){.fn = fn, .arg = arg, .index = index});
}

void binder_seat_changed(struct binder *binder, const char *group)
{
    struct seat *next;

    for (struct seat *seat = binder->seats; seat; seat = next) {
        next = seat->next;
        /* One that has not begun looks by itself. */
        if (strcmp(seat->group, group) == 0 && seat->timer.fn == on_timeout)
            seat_look(seat);
    }
}
