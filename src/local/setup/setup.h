/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/*
 * The objects that an installation has from the start, as the chart brings them to a cluster: CRDs, priority classes, the
 * default queues. CRDs follow the release; of the others only missing ones are created, and existing ones stay as the user
 * has them.
 */
extern const struct service_kind setup_service;
