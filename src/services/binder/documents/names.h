/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"
#include "kube/sharing.h"

struct err;

/* Names of what the binder makes, all of them worked out from what they stand for: made twice, they meet. */

#define KEY_RECEIVED_TYPE "received-resource-type"
#define KEY_EXTENDED_CLAIM "resource.kubernetes.io/extended-resource-claim"
#define FINALIZER_CLAIM "resource.kubernetes.io/delete-protection"

/* The pod that keeps a GPU of `node` for the pods of `group`. */
enum { RESERVATION_NAME_MAX = 48 };
const char *reservation_name(const char *node, const char *group, char name[static RESERVATION_NAME_MAX]);

/* The claim for the extended resources of a pod: as the server would name one, but always the same for one pod. */
enum { EXTENDED_NAME_MAX = 64 };
const char *extended_claim_name(const char *pod, const char *uid, char name[static EXTENDED_NAME_MAX]);

/* The ConfigMaps that such a container takes its variables from. */
enum { SHARING_NAME_MAX = 320 };
struct sharing_names {
    char capabilities[SHARING_NAME_MAX];
    char direct[SHARING_NAME_MAX];  // variables that are taken as a whole
};

/* Returns 0, or -EINVAL when the pod does not say what its ConfigMaps are called. */
MUST_CHECK int sharing_names(yyjson_val *pod, const struct sharing_container *container,
                             struct sharing_names *ret_names, struct err *err);

/* The label or annotation of an object; "" when it is not there. */
const char *label_of(yyjson_val *object, const char *key);
const char *annotation_of(yyjson_val *object, const char *key);
