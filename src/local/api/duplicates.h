/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

/*
 * Of members with one name the last one counts, as it does for the readers of Kubernetes: the others are taken out, at every
 * depth.
 */
void duplicates_drop(yyjson_mut_val *value);
