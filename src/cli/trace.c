/* SPDX-License-Identifier: Apache-2.0 */

/*
 * muster trace: makes up traces, and converts records of real clusters. Both verbs have their options in one table, which
 * says whose each is and where its value goes.
 */
#include "sim/trace/trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/simulate_shared.h"
#include "sim/convert/convert.h"
#include "sim/trace/trace_cluster.h"
#include "sim/trace/trace_generate.h"

enum { NAME_BYTES = 32 };

struct call {
    const char *out;
    const char *cluster;
    const char *from;
    const char *queues;
    bool keeps_pending;
    uint32_t gpus_per_node;
    struct trace_recipe recipe;
    char *names;        // owned; what `recipe.queues` points to
    const char **list;  // owned
    uint32_t given;     // a bit for each option of the table
};

enum verb { GENERATE = 1, CONVERT = 2 };
enum value_kind { VALUE_TEXT, VALUE_NUMBER, VALUE_COUNT, VALUE_SEED, VALUE_FLAG };

#define AT(field) offsetof(struct call, field)

/* In the order of the command's table of options. */
static const struct reader {
    const char *name;
    int verbs;
    enum value_kind kind;
    size_t offset;  // in struct call
    long max;       // of a count
} readers[] = {
    {"out", GENERATE | CONVERT, VALUE_TEXT, AT(out), 0},
    {"cluster", GENERATE | CONVERT, VALUE_TEXT, AT(cluster), 0},
    {"queues", GENERATE | CONVERT, VALUE_TEXT, AT(queues), 0},
    {"gpus-per-node", GENERATE | CONVERT, VALUE_COUNT, AT(gpus_per_node), TRACE_GPUS_MAX},
    {"from", CONVERT, VALUE_TEXT, AT(from), 0},
    {"keep-pending", CONVERT, VALUE_FLAG, AT(keeps_pending), 0},
    {"seed", GENERATE, VALUE_SEED, AT(recipe.seed), 0},
    {"days", GENERATE, VALUE_NUMBER, AT(recipe.days), 0},
    {"gpus", GENERATE, VALUE_COUNT, AT(recipe.gpus), RECIPE_GPUS_MAX},
    {"jobs", GENERATE, VALUE_COUNT, AT(recipe.jobs), RECIPE_JOBS_MAX},
    {"load", GENERATE, VALUE_NUMBER, AT(recipe.load), 0},
    {"failures", GENERATE, VALUE_NUMBER, AT(recipe.failures_per_day), 0},
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
    const struct reader *reader = &readers[option];
    void *at = (char *)call + reader->offset;

    call->given |= 1u << option;
    switch (reader->kind) {
    case VALUE_TEXT:
        memcpy(at, &a->value, sizeof a->value);
        return true;
    case VALUE_NUMBER:
        return read_number(a, reader->name, at);
    case VALUE_COUNT:
        return read_count(a, reader->name, reader->max, at);
    case VALUE_SEED:
        return read_seed(a, at);
    case VALUE_FLAG:
        memcpy(at, &(bool){true}, sizeof(bool));
        return true;
    }
    return false;
}

/* An option of the other verb would have no effect, which is worth a word. */
static bool check_options(const struct call *call, const struct command *command, enum verb verb)
{
    for (size_t i = 0; i < ARRAY_LEN(readers); i++)
        if ((call->given & 1u << i) && !(readers[i].verbs & verb)) {
            (void)command_wrong(command, "--%s is an option of 'muster trace %s'", readers[i].name,
                                verb == GENERATE ? "convert" : "generate");
            return false;
        }
    return true;
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

/* A cluster and the trace whose names it has. */
struct named_cluster {
    const struct trace_cluster *cluster;
    const struct trace *trace;
};

static void write_cluster(void *context, FILE *out)
{
    const struct named_cluster *named = context;

    trace_cluster_write(named->cluster, named->trace, out);
}

static int write_out(const struct call *call, struct trace *trace, const struct trace_cluster *cluster, struct err *err)
{
    struct named_cluster named = {cluster, trace};
    int r = call->cluster ? write_file(call->cluster, write_cluster, &named, err) : 0;

    if (r < 0)
        return r;
    if (call->out)
        return write_file(call->out, write_trace, trace, err);
    trace_write(trace, stdout);
    return 0;
}

static int generate(struct call *call, struct err *err)
{
    struct trace_cluster cluster = {0};
    struct trace trace;
    int r = name_queues(call, call->queues ? call->queues : "10", err);

    if (r < 0)
        return r;
    if (call->gpus_per_node)
        call->recipe.gpus_per_node = call->gpus_per_node;
    trace_init(&trace);
    r = trace_generate(&trace, &call->recipe, err);
    if (r >= 0) {
        trace_recipe_cluster(&call->recipe, &trace, &cluster);
        r = write_out(call, &trace, &cluster, err);
    }
    trace_cluster_done(&cluster);
    trace_done(&trace);
    return r;
}

static int count_queues(const struct call *call, struct conversion *conversion, struct err *err)
{
    char *end = NULL;
    unsigned long queues = call->queues ? strtoul(call->queues, &end, 10) : 0;

    if (call->queues && (end == call->queues || *end || queues == 0 || queues > CONVERT_QUEUES_MAX))
        return err_set(err, -EINVAL, "--queues: expected a whole number from 1 to %d, found '%s'", CONVERT_QUEUES_MAX,
                       call->queues);
    conversion->queues = (uint32_t)queues;
    return 0;
}

/* What became of the files' rows, on standard error: the trace may go to standard output. */
static void tell(const struct call *call, const struct trace *trace, const struct conversion *conversion)
{
    const struct trace_cluster *cluster = &conversion->cluster;

    if (conversion->skipped)
        (void)fprintf(stderr, "muster: left out %u workloads that never started or whose times are missing%s\n",
                      conversion->skipped,
                      call->keeps_pending ? "" : "; --keep-pending keeps those that never started");
    if (conversion->pending)
        (void)fprintf(stderr, "muster: kept %u workloads that never started\n", conversion->pending);
    if (conversion->timeless)
        (void)fprintf(stderr, "muster: %u workloads have no times: they come at the start and do not end\n",
                      conversion->timeless);
    if (!call->cluster)
        return;
    if (conversion->nodes_made_up)
        (void)fprintf(stderr,
                      "muster: no file lists the nodes: wrote %u nodes with %llu GPUs, enough for all work that "
                      "ran at one time\n",
                      conversion->nodes_made_up, (unsigned long long)trace_cluster_gpus(cluster));
    (void)fprintf(stderr, "muster: %u workloads, %u queues, %u nodes\n", trace->jobs.len, cluster->queues.len,
                  cluster->nodes.len);
}

static int convert(const struct call *call, const char *const *paths, size_t count, struct err *err)
{
    struct conversion conversion;
    struct trace trace;
    int r;

    conversion_init(&conversion);
    conversion.keeps_pending = call->keeps_pending;
    if (call->gpus_per_node)
        conversion.gpus_per_node = call->gpus_per_node;
    trace_init(&trace);
    r = count_queues(call, &conversion, err);
    if (r >= 0)
        r = convert_files(&trace, call->from, paths, count, &conversion, err);
    if (r >= 0 && trace.jobs.len == 0)
        r = err_set(err, -EINVAL, "the files hold no workload that ran; --keep-pending keeps those that never started");
    if (r >= 0) {
        convert_cluster(&trace, &conversion);
        r = write_out(call, &trace, &conversion.cluster, err);
    }
    if (r >= 0)
        tell(call, &trace, &conversion);
    conversion_done(&conversion);
    trace_done(&trace);
    return r;
}

static int run(const struct command *command, struct call *call, const struct arguments *a)
{
    const char *word = a->operand_count > 0 ? a->operands[0] : "";
    enum verb verb = strcmp(word, "convert") == 0 ? CONVERT : GENERATE;
    struct err err = {0};
    int r;

    if (verb == GENERATE && strcmp(word, "generate") != 0)
        return command_wrong(command, "generate or convert?");
    if (!check_options(call, command, verb))
        return EXIT_WRONG_CALL;
    if (verb == GENERATE && a->operand_count > 1)
        return command_wrong(command, "generate takes no files; 'muster trace convert' does");
    if (verb == CONVERT && a->operand_count < 2)
        return command_wrong(command, "convert needs the files to convert");
    r = verb == GENERATE ? generate(call, &err) : convert(call, a->operands + 1, a->operand_count - 1, &err);
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
