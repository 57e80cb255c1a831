/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;
struct json_at;
struct place;
struct request;
struct wants;
struct workload_kind;
struct sync_item;

/*
 * Distributed trainings: one Job whose pods are a gang and have a rank each, a Service that gives each pod a name, and the
 * variables that the framework looks for. The pod of rank 0 is the master where there is one. Where it is not like the others,
 * the gang is made in another way (gang.h).
 */
#define WORKLOAD_DISTRIBUTED "distributed"

enum { DISTRIBUTED_WORKERS_MAX = 1000 };

/* Checks what belongs together, and reads the members beside the spec into the item. */
MUST_CHECK int distributed_read(struct request *request, const struct workload_kind *kind, const struct place *place,
                                const struct json_at *body, yyjson_mut_val *spec, yyjson_mut_val *item,
                                struct err *err);

/* How many pods a workload has at a time, by its item, whatever its kind. */
int64_t workload_pod_count(yyjson_val *item);

/* Makes the Job of a workload that of a gang. `job` has its metadata and spec. */
void distributed_encode_job(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *job);

/* Adds the variables of the framework to those of a container. */
void distributed_encode_variables(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *list);

/* The Service with the names of the pods. */
void distributed_want_service(const struct sync_item *item, struct wants *wants);
