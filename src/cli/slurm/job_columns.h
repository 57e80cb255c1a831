/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "cli/slurm/columns.h"

/* The columns of jobs, for squeue and sacct; rows are struct workload_row. */
extern const struct slurm_column slurm_job_columns[];
extern const size_t slurm_job_column_count;
