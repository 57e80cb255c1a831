/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/*
 * `muster admission`: the webhooks that API servers ask about pods, PodGroups, Queues and Topologies, served by every
 * replica over TLS. It makes and renews its certificates itself, and tells the API servers which authority to trust.
 */
extern const struct service_kind admission_service;
