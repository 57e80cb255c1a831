/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/*
 * `muster grouper`: gives every pod of the scheduler the PodGroup that its owners call for, and tells the pod its name.
 * The rules are those of objects/group; here is what they need of a running cluster.
 */
extern const struct service_kind grouper_service;
