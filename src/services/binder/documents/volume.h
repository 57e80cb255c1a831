/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;

/* PersistentVolumes and their claims: what fits, and what is written. Pure. */

#define KEY_SELECTED_NODE "volume.kubernetes.io/selected-node"

/* The claim of volume `volume` of a pod, into `name`; false when the volume needs none. */
enum { CLAIM_NAME_MAX = 320 };
bool volume_claim_name(yyjson_val *pod, yyjson_val *volume, char name[static CLAIM_NAME_MAX], bool *ret_is_ephemeral);

/* A claim with a volume, for good. */
bool volume_claim_is_bound(yyjson_val *claim);

/* How a claim without a volume gets one. */
enum volume_need {
    VOLUME_BOUND,
    VOLUME_WAIT,    // somebody is at it for this node already
    VOLUME_CHOOSE,  // a volume that is there, or else a new one
};

/* Returns 0; -ENOENT without its class, -EAGAIN when it does not wait for pods, -ESTALE when it is being deleted, -EXDEV
 * when its volume is being made for another node. `class` is the StorageClass, NULL when there is none. */
MUST_CHECK int volume_decide(yyjson_val *claim, yyjson_val *class, const char *node, enum volume_need *ret_need,
                             struct err *err);

/* The class that a claim names; "" when it names none. */
const char *volume_class(yyjson_val *claim);

/* Whether a volume can be used on a node with these labels. */
bool volume_is_reachable(yyjson_val *volume, yyjson_val *node);

/* Whether a claim may have the volume, on that node. */
bool volume_fits(yyjson_val *volume, yyjson_val *claim, yyjson_val *node);

/* Whether `a` is better than `b`, which may be NULL: kept for the claim, or smaller. */
bool volume_is_better(yyjson_val *a, yyjson_val *b, yyjson_val *claim);

/* Whether a class can make volumes for a node: 0, or -ENOTSUP when it makes none at all, -EXDEV not for that one. */
MUST_CHECK int volume_class_serves(yyjson_val *class, yyjson_val *node, struct err *err);

/* Gives a volume to a claim. Returns 1 when it has changed, 0 when the claim has it, -EBUSY when another has. */
MUST_CHECK int volume_give(yyjson_mut_doc *volume, yyjson_val *claim, struct err *err);

/* Takes it back from the claim of that UID, unless they are bound. Returns whether it has changed. */
bool volume_take_back(yyjson_mut_doc *volume, const char *claim_uid);
