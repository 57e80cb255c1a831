/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

/*
 * What the bind of a pod on a shared GPU looks at, as JSON: which ConfigMaps it has, where its container takes its
 * variables from, and what it tolerates. It is kept from the watch while the pod waits, so that the pod need not be read
 * for the bind. NULL for pods that share no GPU or are too large to be kept; else to be freed by the caller.
 */
char *extract_sharer(yyjson_val *pod);
