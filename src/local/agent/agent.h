/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/*
 * The agent of all pretended nodes: registers them, and runs the pods that are bound to them. One watch serves all nodes,
 * and nothing is written while nothing changes.
 */
extern const struct service_kind agent_service;

/* On a node: it is lost. Its pods stay as they are, and it is not ready, until the annotation is removed. */
#define PRETENDED_LOST "muster.scheduler/pretend-lost"
