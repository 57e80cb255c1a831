/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"

struct err;
struct place;
struct request;
struct workload_kind;

/* The kind that the path names; NULL: all of them. */
const struct workload_kind *template_kind(const struct request *request);

/* A template as the REST shows it. */
yyjson_mut_val *template_render(struct request *request, yyjson_val *item);

/* The place that scopeType and scopeId name. */
MUST_CHECK int template_scope(struct request *request, const char *type, const char *id, struct place *ret_place,
                              struct err *err);
