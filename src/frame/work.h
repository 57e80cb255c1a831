/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/time.h"
#include "kube/client/backoff.h"

struct err;
struct rush;
struct service;

/*
 * Objects that have to be brought into line, one after the other: each is in the queue once however often it changes, a
 * limited number is worked on at a time, and one that failed is tried again after 1 s, 2 s, 4 s ... up to a minute. One
 * that changes while it is worked on is worked on again.
 *
 * Nothing is started unless the service leads and `may_start` agrees; work_pump() says that this may have changed.
 */
struct work;

enum work_state { WORK_IDLE, WORK_QUEUED, WORK_RUNNING, WORK_WAITING };

/* A member of the object; all zeros at first. */
struct work_item {
    struct list_link in_work;
    enum work_state state;
    bool is_again;  // it has changed since work on it began
    struct backoff backoff;
    nsec_t since;  // when it got into its state
    nsec_t due;    // while it waits: until when
    nsec_t began;  // when work on it last began; 0: never
};

struct work_options {
    struct service *service;
    const char *controller;  // in metrics
    uint32_t workers;
    nsec_t delay;       // from a change until work on it begins, so that changes which follow at once cost nothing
    nsec_t interval;    // from the beginning of work on an item to the next of work on the same one, at least
    struct rush *rush;  // pods on their way that all of it waits for; NULL: for none
    bool (*may_start)(void *arg);
    /* Begins to work on the item, and calls work_done() for it exactly once, at once or later, unless it is dropped. */
    void (*start)(void *arg, struct work_item *item);
    void *arg;
};

struct work *work_new(const struct work_options *options);
void work_free(struct work *work);  // items are left alone

void work_add(struct work *work, struct work_item *item);

/* The same, but work on an item that is not in the queue yet begins no sooner than after that time. */
void work_add_later(struct work *work, struct work_item *item, nsec_t time);

/* Work on the item is over. `err` with a code says that it failed; it is tried again. NULL, or code 0: it went well. */
void work_done(struct work *work, struct work_item *item, const struct err *err);

/* The object goes away. Whatever was begun for it has been ended by the caller. */
void work_drop(struct work *work, struct work_item *item);

/* The service leads now, or what `may_start` depends on has changed. */
void work_pump(struct work *work);

/* Starts nothing any more; service_stopped() is called when nothing is worked on. */
void work_stop(struct work *work);

/* Items that wait for their turn or for another try, and those that are worked on. */
uint64_t work_len(const struct work *work);
