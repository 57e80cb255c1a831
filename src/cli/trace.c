/* SPDX-License-Identifier: Apache-2.0 */

/* muster trace: makes up traces, and converts public ones. */
#include "sim/trace/trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/simulate_shared.h"
#include "sim/trace/trace_convert.h"
#include "sim/trace/trace_generate.h"

enum {
    OPTION_OUT,
    OPTION_SEED,
    OPTION_DAYS,
    OPTION_GPUS,
    OPTION_GPUS_PER_NODE,
    OPTION_JOBS,
    OPTION_QUEUES,
    OPTION_LOAD,
    OPTION_FAILURES,
    OPTION_CLUSTER,
    OPTION_FROM,
};

enum { NAME_BYTES = 32 };

struct call {
    const char *out;
    const char *cluster;
    const char *from;
    const char *queues;
    struct trace_recipe recipe;
    char *names;        // owned; what `recipe.queues` points to
    const char **list;  // owned
    struct trace_conversion conversion;
};

static bool read_number(const struct arguments *a, const char *option, double *ret)
{
    char *end;

    *ret = strtod(a->value, &end);
    if (end != a->value && !*end && isfinite(*ret) && *ret >= 0)
        return true;
    (void)command_wrong(a->command, "--%s: '%s' is no number", option, a->value);
    return false;
}

static bool read_count(const struct arguments *a, const char *option, long max, uint32_t *ret)
{
    long number;

    if (!arguments_number(a, option, 1, max, &number))
        return false;
    *ret = (uint32_t)number;
    return true;
}

static bool read_seed(const struct arguments *a, uint64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoull(a->value, &end, 10);
    if (!errno && end != a->value && !*end && *a->value != '-')
        return true;
    (void)command_wrong(a->command, "--seed: '%s' is no whole number", a->value);
    return false;
}

static bool read_option(struct call *call, const struct arguments *a, int option)
{
    switch (option) {
    case OPTION_OUT:
        call->out = a->value;
        return true;
    case OPTION_SEED:
        return read_seed(a, &call->recipe.seed);
    case OPTION_DAYS:
        return read_number(a, "days", &call->recipe.days);
    case OPTION_GPUS:
        return read_count(a, "gpus", RECIPE_GPUS_MAX, &call->recipe.gpus);
    case OPTION_GPUS_PER_NODE:
        return read_count(a, "gpus-per-node", RECIPE_GPUS_MAX, &call->recipe.gpus_per_node);
    case OPTION_JOBS:
        return read_count(a, "jobs", RECIPE_JOBS_MAX, &call->recipe.jobs);
    case OPTION_QUEUES:
        call->queues = a->value;
        return true;
    case OPTION_LOAD:
        return read_number(a, "load", &call->recipe.load);
    case OPTION_FAILURES:
        return read_number(a, "failures", &call->recipe.failures_per_day);
    case OPTION_CLUSTER:
        call->cluster = a->value;
        return true;
    default:
        call->from = a->value;
        return true;
    }
}

/* As Kubernetes has them: small letters, digits, '-' and '.'. A letter comes first, so that no number passes for one. */
static bool is_queue_name(const char *name)
{
    return *name >= 'a' && *name <= 'z' && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.")] == '\0';
}

static void number_queues(struct call *call, uint32_t count)
{
    call->names = xcalloc(count + 1, NAME_BYTES);
    call->list = xcalloc(count + 1, sizeof *call->list);
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(call->names + (size_t)i * NAME_BYTES, NAME_BYTES, "team-%02u", i + 1);
        call->list[i] = call->names + (size_t)i * NAME_BYTES;
    }
    call->recipe.queue_count = count;
}

/* "10" makes team-01 to team-10; "a,b,c" are names. */
static int name_queues(struct call *call, const char *queues, struct err *err)
{
    char *end;
    unsigned long count = strtoul(queues, &end, 10);
    char *rest;

    if (end != queues && !*end && count >= 1 && count <= RECIPE_QUEUES_MAX) {
        number_queues(call, (uint32_t)count);
        call->recipe.queues = call->list;
        return 0;
    }
    call->names = rest = xstrdup(queues);
    call->list = xcalloc(RECIPE_QUEUES_MAX, sizeof *call->list);
    for (char *name; (name = strsep(&rest, ","));) {
        bool is_good = is_queue_name(name) && call->recipe.queue_count < RECIPE_QUEUES_MAX;

        for (uint32_t i = 0; is_good && i < call->recipe.queue_count; i++)
            is_good = strcmp(call->list[i], name) != 0;
        if (!is_good)
            return err_set(err, -EINVAL,
                           "--queues: expected 1 to %d, or that many different names such as a,b,c, found '%s'",
                           RECIPE_QUEUES_MAX, queues);
        call->list[call->recipe.queue_count++] = name;
    }
    call->recipe.queues = call->list;
    return 0;
}

static void write_trace(void *context, FILE *out)
{
    trace_write(context, out);
}

static void write_cluster(void *context, FILE *out)
{
    trace_write_cluster(context, out);
}

static int write_out(const struct call *call, struct trace *trace, struct err *err)
{
    if (call->out)
        return write_file(call->out, write_trace, trace, err);
    trace_write(trace, stdout);
    return 0;
}

static int generate(struct call *call, struct trace *trace, struct err *err)
{
    int r;

    r = name_queues(call, call->queues ? call->queues : "10", err);
    if (r >= 0)
        r = trace_generate(trace, &call->recipe, err);
    if (r >= 0 && call->cluster)
        r = write_file(call->cluster, write_cluster, &call->recipe, err);
    return r;
}

static int convert(struct call *call, struct trace *trace, const char *const *paths, size_t count, struct err *err)
{
    int r;

    if (call->queues) {
        char *end;
        unsigned long queues = strtoul(call->queues, &end, 10);

        if (end == call->queues || *end || queues == 0 || queues > CONVERT_QUEUES_MAX)
            return err_set(err, -EINVAL, "--queues: expected a whole number from 1 to %d, found '%s'",
                           CONVERT_QUEUES_MAX, call->queues);
        call->conversion.queues = (uint32_t)queues;
    }
    r = trace_convert(trace, call->from, paths, count, &call->conversion, err);
    if (r >= 0 && call->conversion.skipped)
        (void)fprintf(stderr, "muster: %u jobs were left out, since they never ran or their times are missing\n",
                      call->conversion.skipped);
    return r;
}

static int run(const struct command *command, struct call *call, const struct arguments *a)
{
    const char *verb = a->operand_count > 0 ? a->operands[0] : "";
    struct trace trace;
    struct err err = {0};
    int r;

    trace_init(&trace);
    if (strcmp(verb, "generate") == 0 && a->operand_count == 1)
        r = generate(call, &trace, &err);
    else if (strcmp(verb, "convert") == 0 && call->from && a->operand_count > 1)
        r = convert(call, &trace, a->operands + 1, a->operand_count - 1, &err);
    else
        r = err_set(&err, -EDOM, "%s",
                    strcmp(verb, "convert") == 0 ? "convert needs --from and files" : "generate or convert?");
    if (r >= 0)
        r = write_out(call, &trace, &err);
    trace_done(&trace);
    if (r == -EDOM)
        return command_wrong(command, "%s", err.text);
    return r < 0 ? command_failed(r, &err) : EXIT_FINE;
}

int run_trace(const struct command *command, struct arguments *arguments)
{
    struct call call = {0};
    int option;
    int status;

    trace_recipe_init(&call.recipe);
    while ((option = arguments_next(arguments)) >= 0)
        if (!read_option(&call, arguments, option))
            return EXIT_WRONG_CALL;
    if (option == ARGUMENT_HELP)
        return command_help(command);
    if (option == ARGUMENT_WRONG)
        return EXIT_WRONG_CALL;
    status = run(command, &call, arguments);
    free(call.names);
    free(call.list);
    return status;
}
