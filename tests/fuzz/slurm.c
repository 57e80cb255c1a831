/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any text is a script, a list of indexes, a dependency, a time and a size, or an error that says why. Whatever a script asks
 * for becomes a job or an error.
 */
#include "cli/slurm/slurm.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"
#include "services/starter/dependency.h"

static enum dependency_state look(void *arg, enum dependency_type type, const char *name)
{
    (void)arg;
    BUG_ON((type == DEPENDENCY_SINGLETON) != (*name == '\0'));
    return (enum dependency_state)((unsigned char)*name % 3);
}

static void read_script(const char *text)
{
    struct slurm_values values = {0};
    struct slurm_job job;
    struct arena arena;
    struct err err = {0};

    arena_init(&arena);
    if (slurm_script_read(text, &arena, &values, &err) == 0 && slurm_job_make(&values, &arena, &job, &err) == 0) {
        BUG_ON(job.spec.tasks < 1 || job.spec.gpus < 0);
        job.spec.job_name = "x";
        job.spec.queue = "q";
        job.spec.workdir = "/";
        slurm_add_variables(&job, &values, &arena);
        (void)slurm_wrapper(values.of[SLURM_OUTPUT], values.of[SLURM_ERROR], false, &job, &arena);
        yyjson_mut_doc_free(job_spec_encode(&job.spec));
        slurm_job_done(&job);
    } else {
        BUG_ON(err.text[0] == '\0');
    }
    arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    enum dependency_state state;
    struct array_spec array;
    struct err err = {0};
    int64_t number = -1;
    static bool is_quiet;

    /* Complaints about options go to standard error, and would be all that is seen. */
    if (!is_quiet)
        (void)!freopen("/dev/null", "w", stderr);
    is_quiet = true;
    read_script(text);
    if (array_parse(text, &array, &err) == 0) {
        BUG_ON(array.indexes.len == 0 || array.first > array.last);
        array_spec_done(&array);
    } else {
        BUG_ON(err.text[0] == '\0');
    }
    (void)!dependency_judge(text, look, NULL, &state, &err);
    BUG_ON(slurm_time_parse(text, &number, &err) == 0 && number < 0);
    BUG_ON(slurm_memory_parse(text, &number, &err) == 0 && number < 0);
    return 0;
}
