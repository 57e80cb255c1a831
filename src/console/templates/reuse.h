/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"

struct err;
struct json_at;
struct place;
struct request;
struct workload_kind;

/*
 * Templates of workloads: specs with a name in a scope, from which workloads of the projects below it are submitted.
 */
#define WORKLOAD_TEMPLATES "/api/v1/workload-templates/"

/*
 * The body of a submission with what it leaves to the template that it names; a document of its own. Members of the body go
 * before those of the template; lists of objects with names are joined. -EINVAL: there is no such template for the project.
 */
MUST_CHECK int reuse_apply(struct request *request, const struct workload_kind *kind, const struct place *place,
                           const char *id, const struct json_at *body, yyjson_doc **ret_body, struct err *err);

/* Gives `to` the members that it lacks, also those of objects within it. With `joins`, items of lists by their names, too. */
void reuse_fill(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_mut_val *from, bool joins);
