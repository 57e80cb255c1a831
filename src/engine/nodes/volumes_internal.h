/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "model/ids.h"

struct state;
struct volume;

/* What the files about volumes share. */
enum { VOLUME_TEXT_MAX = 1024 };

/* Could a volume that the pod waits for not be made for the node, or with NO_ID for some node? */
bool volumes_have_failed(const struct state *state, pod_id pod, node_id node);

/* The claim of that name; NULL when there is none. */
const struct volume *volume_find(const struct state *state, name_id namespace, name_id name);
