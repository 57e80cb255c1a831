/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"

struct err;
struct object;
struct object_notes;
struct object_options;
struct object_set;

/*
 * The pod group of a pod, as KAI's grouper would make it from the pod's top owner.
 *
 * Sets the pod's gang and pod set. A pod group that is not in the set yet is made and added to it. Pods that name a pod
 * group that is there, pods of other schedulers and pods that ask to be left alone are not touched. Returns 0, or what
 * is wrong with the pod or its owner, with their place in the message.
 */
MUST_CHECK int group_pod(struct object_set *set, struct object *pod, const struct object_options *options,
                         struct object_notes *notes, struct err *err);
