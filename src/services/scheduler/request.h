/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "model/ids.h"

struct placement;
struct scheduler;

/* The BindRequest of a pod that the engine has just placed, as JSON; to be freed by the caller. */
char *request_encode(struct scheduler *s, const struct placement *placement, pod_id pod);
