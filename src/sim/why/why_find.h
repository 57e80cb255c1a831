/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"
#include "model/ids.h"

struct err;
struct left_out;
struct object_notes;
struct object_set;
struct state;
struct strbuf;

/* What a question is about: the cluster and, where it was read from Kubernetes objects, those and what reading noted. */
struct why_input {
    struct state *state;
    const struct object_set *objects;  // NULL: it came as a scenario
    const struct object_notes *notes;  // NULL: none
};

/* What a name stands for: one of these, the others are NO_ID and NULL. */
struct why_target {
    gang_id gang;
    pod_id foreign;                   // a pod that another scheduler has placed
    const struct left_out *left_out;  // work that waits for another scheduler
};

/*
 * "name" or "namespace/name" of a workload, of its PodGroup or of one of its pods. Fails with -EINVAL when several match,
 * which are listed, and with -ENOENT when none does, with the nearest name there is.
 */
MUST_CHECK int why_find(const struct why_input *input, const char *workload, struct why_target *ret_target,
                        struct err *err);

/* The gang as people call it: "namespace/name" of the workload that was written, not of a PodGroup made for it. */
void why_workload_name(const struct state *state, const struct object_set *objects, gang_id gang, struct strbuf *out);
