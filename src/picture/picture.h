/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "views/objects.h"

struct board;
struct service;

/*
 * The rows of the page (board.h), made from the objects of the API and kept up to date while somebody looks. Nothing is
 * followed and nothing is kept while nobody does.
 *
 * A change of an object is followed by one pass over all of them, soon, and together with those that come meanwhile. Passes
 * are spaced so that they take at most a tenth of the time, however large the cluster is.
 */
struct picture;

/* `on_change` comes from the loop, whenever rows have changed, and when the picture has become ready. */
struct picture *picture_new(struct service *service, void (*on_change)(void *arg), void *arg);
void picture_free(struct picture *picture);

/* Somebody looks, or has stopped to look: calls come in pairs. Objects are kept for some minutes after the last one. */
void picture_hold(struct picture *picture);
void picture_release(struct picture *picture);

/* All objects have been listed. */
bool picture_is_ready(const struct picture *picture);

/* The rows, with all changes that are known; only while it is held and ready. */
const struct board *picture_board(struct picture *picture);

/* Calls `fn` with all objects of a kind, in no order; only while it is held and ready. */
void picture_each(const struct picture *picture, enum view_kind kind, void (*fn)(void *arg, yyjson_val *object),
                  void *arg);

/* The PodGroup of a pod, "" for one that has none; NULL when there is no such pod. Borrowed until the next turn of the loop. */
const char *picture_pod_group(const struct picture *picture, const char *namespace, const char *pod);

/* The PodGroup of a workload, to be freed by the caller; "" when there is none. */
char *picture_workload_group(struct picture *picture, const char *namespace, const char *kind, const char *name)
    __attribute__((returns_nonnull));
