/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;

/* ResourceClaims of a pod, and what is written into them. Pure; objects are changed in place. */

/* The name of the claim that `entry` of the pod's spec.resourceClaims stands for: its own, or the one that was made of
 * its template. NULL when the pod needs none. Returns 0, or -EAGAIN when the claim has not been made yet. */
MUST_CHECK int claim_name(yyjson_val *pod, yyjson_val *entry, const char **ret_name, struct err *err);

/* The allocation of `entry` in a BindRequest's resourceClaimAllocations; NULL when there is none. */
yyjson_mut_val *claim_allocation(yyjson_mut_val *allocations, const char *entry);

/* Protects the claim while it is allocated. Returns whether it has changed. */
bool claim_protect(yyjson_mut_doc *claim);
bool claim_unprotect(yyjson_mut_doc *claim);

/*
 * Reserves the claim for the pod, and allocates it if nobody has. Returns 1 when it has changed, 0 when it is as it
 * should be, -EINVAL when it is not allocated and there is nothing to allocate, -ESTALE when it is being deleted, -ENOSPC
 * when too many use it. `*ret_is_allocated`: the allocation is ours.
 */
MUST_CHECK int claim_reserve(yyjson_mut_doc *claim, const char *pod, const char *uid, yyjson_mut_val *allocation,
                             bool *ret_is_allocated, struct err *err);

/* Whether the devices can be used: some have to be attached first, and say by conditions how that goes. */
enum claim_state { CLAIM_READY, CLAIM_WAITS, CLAIM_BROKEN };
enum claim_state claim_state_of(yyjson_val *claim);

/* Takes the pod's reservation back, and with `is_ours` the allocation if nobody else uses it. Returns whether the claim
 * has changed. */
bool claim_release(yyjson_mut_doc *claim, const char *uid, bool is_ours);

/* A claim for the extended resources of a pod, in a version of resource.k8s.io. `requests` are the plan's deviceRequests,
 * as v1 has them. */
yyjson_mut_doc *claim_new_extended(const char *version, const char *namespace, const char *pod, const char *uid,
                                   yyjson_mut_val *requests);

/* A patch of the pod's status that names that claim, or with NULL takes the name away. `mappings` are the plan's
 * containerMappings. */
yyjson_mut_doc *claim_pod_status(const char *uid, const char *claim, yyjson_mut_val *mappings);
