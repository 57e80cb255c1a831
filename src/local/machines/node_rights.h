/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct request;
struct server;

/*
 * What the certificate of a joined machine allows, and nothing else does: its Node object, its lease, the pods that are
 * bound to it, the ConfigMaps, Secrets and tokens of accounts that these refer to, and events. Which members it may change of what it may write
 * is in node_limits.h.
 *
 * A pod that does not exist is not refused: its agent has to learn that it is gone.
 */
bool node_rights_allow(const struct request *request, const char *verb, const char *name);

/* Whether the pod is bound to the node; false when there is none. */
bool node_has_pod(struct server *server, const char *node, const char *namespace, const char *pod);
