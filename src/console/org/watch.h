/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "console/org/sync.h"

struct console;

/*
 * Follows the objects that the console has made: an item whose object is deleted or changed by somebody is compared with the
 * cluster again. Knows the namespaces of projects and the labels of all nodes.
 */
struct watch;

struct watch *watch_new(struct console *console);
void watch_free(struct watch *watch);

/* Namespaces and nodes have been listed. */
bool watch_is_synced(const struct watch *watch);

/* Whether the namespace is there with the label of the project. */
bool watch_has_namespace(const struct watch *watch, const char *namespace, const char *project);

void watch_each_node(const struct watch *watch, sync_node_fn fn, void *arg);
