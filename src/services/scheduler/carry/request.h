/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "model/ids.h"

struct object_options;
struct placement;
struct state;

/* The BindRequest of a pod that the engine has just placed, but for its claims; to be freed by the caller. Its strings are
 * the state's names. A lasting pod is marked by the binder for autoscalers to leave it alone. */
yyjson_mut_doc *request_encode(const struct state *state, const struct object_options *options,
                               const struct placement *placement, pod_id pod, bool is_lasting);

/* The UID of the pod that owns the BindRequest; "": it names none, and is good for any pod of its name. Borrowed. */
const char *request_pod_uid(yyjson_val *request);

/* The binder has given it up. */
bool request_has_failed(yyjson_val *request);

/* What a pod receives, in KAI's words: "Regular", "Fraction" or "MigInstance". */
const char *request_resource_type(const struct state *state, pod_id pod);
