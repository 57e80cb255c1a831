/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/*
 * The agent of this machine: registers it as a node under the name of the host, renews its lease, and runs the pods that
 * are bound to it as processes. Without --fake-nodes this is the node that `muster up` has.
 */
extern const struct service_kind node_service;

/* The same on a machine that has joined another one: `muster join`. */
extern const struct service_kind joined_node_service;
