/* SPDX-License-Identifier: Apache-2.0 */

/*
 * `muster jq`: the process that answers jq expressions of others. Whatever they are, it ends soon and reaches nothing:
 * time and memory are bounded, no file can be opened and no process started. Whoever starts it gives it an empty
 * environment, since expressions can read that as well.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "text/file.h"
#include "text/jq.h"

/* Of a request with all its inputs; of processor time; of memory on top of what the program itself takes. */
enum { REQUEST_MAX = 64 << 20, SECONDS_MAX = 2, MEMORY_MAX = 256 << 20 };

/* The address space that the program has by now, in bytes. */
static rlim_t memory_now(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    char line[256] = "";

    if (file && !fgets(line, sizeof line, file))
        line[0] = '\0';
    if (file)
        (void)fclose(file);
    return (rlim_t)strtoull(line, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
}

static int bound(void)
{
    const struct {
        __rlimit_resource_t what;
        rlim_t max;
    } limits[] = {
        {RLIMIT_AS, memory_now() + MEMORY_MAX},
        {RLIMIT_CPU, SECONDS_MAX},
        {RLIMIT_CORE, 0},
        {RLIMIT_NPROC, 0},
        {RLIMIT_NOFILE, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        if (setrlimit(limits[i].what, &(struct rlimit){limits[i].max, limits[i].max}) < 0)
            return -errno;
    }
    return 0;
}

static int run_jq(const struct command *command, struct arguments *arguments)
{
    _cleanup_(freep) char *request = NULL;
    _cleanup_(freep) char *answer = NULL;
    size_t len = 0;
    struct err err = {0};
    int status;
    int r;

    (void)command;
    if (!arguments_operands(arguments, 0, &status))
        return status;
    r = file_read("-", REQUEST_MAX, &request, &len, &err);
    if (r >= 0) {
        r = bound();
        if (r < 0)
            (void)err_set(&err, r, "cannot limit time and memory: %m");
    }
    if (r >= 0)
        r = jq_answer(request, len, &answer, &err);
    if (r < 0)
        return command_failed(r, &err);
    if (puts(answer) < 0 || fflush(stdout) < 0)
        return command_failed_to_write();
    /* Nothing that usually runs at the end could open its files any more. */
    _exit(EXIT_FINE);
}

static const char *const jq_examples[] = {
    "echo '{\"questions\": [{\"expression\": \".a\", \"document\": 0}], \"inputs\": [[{\"a\": 1}]]}' | muster jq",
    NULL,
};

const struct command jq_command = {
    .name = "jq",
    .summary = "evaluate jq expressions within limits, for other services",
    .usage = "",
    .text = "Reads a request as JSON from standard input and prints the answers: {\"questions\": [{\"expression\":\n"
            "\".a\", \"document\": 0}], \"inputs\": [[{\"a\": 1}]]}. A request is limited to two seconds of processor\n"
            "time and 256 MiB. The grouper runs this command for Kartas.\n",
    .group = GROUP_INTERNALS,
    .examples = jq_examples,
    .operands = OPERANDS_NONE,
    .run = run_jq,
};
