/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;
struct sync_item;
struct wants;

/*
 * Inference: a Deployment whose pods answer requests, and a Service of the same name in front of them. It has as many pods as
 * the members of `autoscaling` ask for to begin with; the others are annotations of the Deployment, for a scaler.
 */
#define WORKLOAD_INFERENCE "inference"

enum { INFERENCE_REPLICAS_MAX = 1000 };

/* What belongs together in a whole spec. -EINVAL, or -ENOSYS for a member that has no effect yet. */
MUST_CHECK int inference_check(yyjson_mut_val *spec, struct err *err);

/* How many pods a spec asks for. */
int64_t inference_replicas(yyjson_val *spec);

/* The Deployment and, where the spec has a port, the Service. */
MUST_CHECK int inference_want(const struct sync_item *item, struct wants *wants, struct err *err);
