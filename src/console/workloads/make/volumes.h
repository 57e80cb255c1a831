/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

/* The volumes of a spec, in the pod and in its container. */
void volumes_encode(yyjson_mut_doc *doc, yyjson_val *spec, yyjson_mut_val *pod, yyjson_mut_val *container);
