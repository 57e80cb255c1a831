/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/* `muster queues`: writes what queues request and have been allocated into their status, and serves it as metrics. */
extern const struct service_kind queues_service;
