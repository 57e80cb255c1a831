/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "kube/client/client.h"

/*
 * Which paths the server has for a kind: for objects that are known by apiVersion and kind alone, such as the owners of
 * a pod. What was learnt is kept for ten minutes, that there is nothing for one.
 */
struct discovery;

/* `resource` is NULL when the server has no such kind (`err` is 0 then) or could not be asked. Borrowed for ever. */
typedef void (*discovery_fn)(void *arg, const struct kube_resource *resource, const struct err *err);

struct discovery *discovery_new(struct kube_client *client);

/* Questions that are open are dropped. */
void discovery_free(struct discovery *discovery);

/* Asks for the kind ("batch/v1", "Job"). Calls back from the loop, exactly once. */
void discovery_find(struct discovery *discovery, const char *api_version, const char *kind, discovery_fn fn, void *arg);
