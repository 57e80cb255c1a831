/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"

struct err;
struct kube_client;
struct websocket_client;
struct websocket_client_handler;

/*
 * A WebSocket of the API server: pods/exec, pods/attach. `path` may have a query, `protocols` are those that the caller
 * speaks ("v5.channel.k8s.io, v4.channel.k8s.io"). Returns when the server has answered, see net/websocket_client.h, and
 * runs the loop while a credential plugin is asked. Returns 0; -EINVAL, -ENOENT, -EPERM or -EACCES with the server's own
 * text when it refuses; -EIO for all else.
 */
MUST_CHECK int kube_websocket(struct kube_client *client, const char *path, const char *protocols,
                              const struct websocket_client_handler *handler, struct websocket_client **ret,
                              struct err *err);
