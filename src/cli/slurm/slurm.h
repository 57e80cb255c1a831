/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/macros.h"
#include "cli/command.h"
#include "cli/work/array.h"
#include "cli/work/job_spec.h"

struct err;
struct workload_row;

/* Slurm's commands on Muster: what its options, states and formats mean here. docs/slurm.md is the page for users. */
extern const struct command sbatch_command;
extern const struct command srun_command;
extern const struct command squeue_command;
extern const struct command scancel_command;
extern const struct command sinfo_command;
extern const struct command sacct_command;

/* The command of that name, for a program that is called by it; NULL: it is none of Slurm's. */
const struct command *slurm_command_find(const char *name);

/* --- what jobs ask for --- */

enum slurm_option {
    SLURM_JOB_NAME,
    SLURM_ACCOUNT,
    SLURM_PARTITION,
    SLURM_QOS,
    SLURM_COMMENT,
    SLURM_NTASKS,
    SLURM_NODES,
    SLURM_NTASKS_PER_NODE,
    SLURM_CPUS_PER_TASK,
    SLURM_MEM,
    SLURM_MEM_PER_CPU,
    SLURM_MEM_PER_GPU,
    SLURM_GRES,
    SLURM_GPUS,
    SLURM_GPUS_PER_TASK,
    SLURM_GPUS_PER_NODE,
    SLURM_TIME,
    SLURM_ARRAY,
    SLURM_DEPENDENCY,
    SLURM_OUTPUT,
    SLURM_ERROR,
    SLURM_CHDIR,
    SLURM_EXPORT,
    SLURM_OPEN_MODE,
    SLURM_REQUEUE,
    SLURM_NO_REQUEUE,
    SLURM_BEGIN,
    SLURM_HOLD,
    SLURM_NODELIST,
    SLURM_EXCLUDE,
    SLURM_CONSTRAINT,
    SLURM_WRAP,
    SLURM_PARSABLE,
    SLURM_WAIT,
    SLURM_EXCLUSIVE,
    SLURM_SIGNAL,
    SLURM_MAIL_TYPE,
    SLURM_MAIL_USER,
    SLURM_QUIET,
    SLURM_OPTION_COUNT
};

extern const struct command_option slurm_options[SLURM_OPTION_COUNT];

/* The values of the options, as texts; NULL: not given, "" for one without a value. */
struct slurm_values {
    const char *of[SLURM_OPTION_COUNT];
};

/* A job as the values describe it. Texts are in `arena`. */
struct slurm_job {
    struct job_spec spec;
    struct array_spec array;
    bool has_array;
    int64_t nodes, gpus_in_all;
    const char *account, *partition, *qos;  // as written; whether they exist is for the server to say
};

/* Returns 0, or -EINVAL with the option that is wrong. */
MUST_CHECK int slurm_job_make(const struct slurm_values *values, struct arena *arena, struct slurm_job *ret,
                              struct err *err);
void slurm_job_done(struct slurm_job *job);

/* Adds the variables SLURM_... that the job finds, after those of the submitter. */
void slurm_add_variables(struct slurm_job *job, const struct slurm_values *values, struct arena *arena);

/*
 * The options of the lines "#SBATCH ..." before the first command of a script, into `values`, which may have others already.
 * Texts are in `arena`. Returns 0, or -EINVAL with the line.
 */
MUST_CHECK int slurm_script_read(const char *script, struct arena *arena, struct slurm_values *values, struct err *err);

/* The words of a line of options, with quotes as a shell has them; -EINVAL for a quote that is not closed. */
struct slurm_words VEC_OF(const char *);
MUST_CHECK int slurm_split(const char *line, size_t len, struct arena *arena, struct slurm_words *ret, struct err *err);

/*
 * A program for /bin/sh that runs the script in its first argument with the others, its output in files. `output` and `error`
 * are names with %j and the like; `error` is NULL where both go into one file.
 */
const char *slurm_wrapper(const char *output, const char *error, bool appends, const struct slurm_job *job,
                          struct arena *arena);

/* "90", "2:30:00", "1-12", "1-12:30:00": seconds; 0 for "UNLIMITED" and "INFINITE". Returns 0 or -EINVAL. */
MUST_CHECK int slurm_time_parse(const char *text, int64_t *ret_seconds, struct err *err);

/* "16G", "4096": MiB. Returns 0 or -EINVAL. */
MUST_CHECK int slurm_memory_parse(const char *text, int64_t *ret_mib, struct err *err);

/* --- what jobs look like --- */

/* "R", "PD", and in full "RUNNING", "PENDING". */
const char *slurm_state(const struct workload_row *row, bool is_short);

/* "Resources", "Dependency", "None". */
const char *slurm_reason(const struct workload_row *row);

/* "12", "12_3", or the name of a workload that has no number. */
const char *slurm_job_id(const struct workload_row *row, struct arena *arena);

/* "1-02:03:04", "2:03", as squeue writes run times. */
const char *slurm_elapsed(int64_t seconds, bool is_long, struct arena *arena);
