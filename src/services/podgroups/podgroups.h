/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/* `muster podgroups`: writes into the status of each PodGroup what its pods request and have been allocated. */
extern const struct service_kind podgroups_service;
