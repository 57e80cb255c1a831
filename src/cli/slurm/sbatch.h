/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"
#include "cli/slurm/slurm.h"
#include "cli/work/api.h"
#include "cli/work/submit.h"

/* A script to be submitted. All texts are borrowed. */
struct sbatch_call {
    struct arena *arena;
    struct slurm_values values;
    const char *script;        // its text
    const char *default_name;  // of the job
    const char *const *arguments;
    size_t argument_count;
    bool writes_files;  // its output goes into slurm-N.out, unless options say otherwise
};

/* Submits it, and waits for its number. Fails as submit_job() does, or with -EINVAL. */
MUST_CHECK int sbatch_submit(struct api *api, const struct sbatch_call *call, struct submitted *ret, struct err *err);
