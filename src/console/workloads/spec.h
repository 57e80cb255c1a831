/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;
struct field;
struct json_at;
struct place;
struct request;
struct workload_kind;

/*
 * The spec of a new workload from the member `spec` of a request: held against the effective policy, with its defaults and
 * imposed data sources. What has no effect is refused: -ENOSYS names the member; -EINVAL what is wrong.
 */
MUST_CHECK int spec_read(struct request *request, const struct workload_kind *kind, const struct place *place,
                         const struct json_at *body, yyjson_mut_val **ret_spec, struct err *err);

/* The same for a spec beside it, of the pods that another part of the policy is about; `more` NULL: of any pods. */
struct spec_part {
    const char *member;  // of the request
    const char *name;    // of the policy; NULL: it has no parts
    const struct field *more;
};
MUST_CHECK int spec_read_part(struct request *request, const struct workload_kind *kind, const struct place *place,
                              const struct spec_part *part, const struct json_at *body, yyjson_mut_val **ret_spec,
                              struct err *err);

/* The members of a template's spec, of which none is required. */
MUST_CHECK int spec_read_template(struct request *request, const struct workload_kind *kind, const struct json_at *at,
                                  yyjson_mut_val **ret_spec, struct err *err);

/* What a pod asks of GPUs. Whole ones have a portion of 1; `memory` is in bytes of each, 0: not asked for. */
struct gpu_ask {
    int64_t devices;
    double portion;
    int64_t memory;
};

/* From the member `compute`, which may be NULL; -EINVAL when its members do not fit together. */
MUST_CHECK int spec_gpus(yyjson_val *compute, struct gpu_ask *ret_ask, struct err *err);

/* GPUs of one pod; 0 for memory, of which nobody knows how much of a GPU it is. */
double gpu_ask_total(const struct gpu_ask *ask);
