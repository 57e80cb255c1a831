/* SPDX-License-Identifier: Apache-2.0 */

/*
 * muster trace: generates traces, and converts records of real clusters. Each verb has a table of its options and, beside
 * it, one that says where their values go.
 */
#include "sim/trace/trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/commands.h"
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
};

enum value_kind { VALUE_TEXT, VALUE_NUMBER, VALUE_COUNT, VALUE_SEED, VALUE_FLAG };

/* Where the value of an option goes. */
struct reader {
    enum value_kind kind;
    size_t offset;  // in struct call
    long max;       // of a count
};

#define AT(field) offsetof(struct call, field)

/* The options that both verbs have. */
enum { OPTION_OUT, OPTION_CLUSTER, OPTION_QUEUES, OPTION_GPUS_PER_NODE, _COMMON_OPTION_MAX };

#define OUT_OPTION [OPTION_OUT] = {0, "out", "FILE", NULL, "where to write the trace (default: standard output)"}
#define CLUSTER_OPTION [OPTION_CLUSTER] = {0, "cluster", "FILE", NULL, "also write matching nodes and queues, as YAML"}

#define COMMON_READERS                                                                        \
    [OPTION_OUT] = {VALUE_TEXT, AT(out), 0}, [OPTION_CLUSTER] = {VALUE_TEXT, AT(cluster), 0}, \
    [OPTION_QUEUES] = {VALUE_TEXT, AT(queues), 0},                                            \
    [OPTION_GPUS_PER_NODE] = {VALUE_COUNT, AT(gpus_per_node), TRACE_GPUS_MAX}

enum {
    GENERATE_SEED = _COMMON_OPTION_MAX,
    GENERATE_DAYS,
    GENERATE_GPUS,
    GENERATE_JOBS,
    GENERATE_LOAD,
    GENERATE_FAILURES
};

static const struct command_option generate_options[] = {
    OUT_OPTION,
    CLUSTER_OPTION,
    [OPTION_QUEUES] = {0, "queues", "Q", NULL, "number of queues, or their names: a,b,c (default 10)"},
    [OPTION_GPUS_PER_NODE] = {0, "gpus-per-node", "N", NULL, "GPUs per node (default 8)"},
    [GENERATE_SEED] = {0, "seed", "N", NULL, "the same seed gives the same trace (default 1)"},
    [GENERATE_DAYS] = {0, "days", "D", NULL, "length of the trace (default 30)"},
    [GENERATE_GPUS] = {0, "gpus", "G", NULL, "total GPUs of the cluster (default 2000)"},
    [GENERATE_JOBS] = {0, "jobs", "J", NULL, "number of workloads (default 100000)"},
    [GENERATE_LOAD] = {0, "load", "L", NULL, "requested GPU time as a part of the total (default 0.9)"},
    [GENERATE_FAILURES] = {0, "failures", "F", NULL, "node failures per day (default 0)"},
};

static const struct reader generate_readers[ARRAY_LEN(generate_options)] = {
    COMMON_READERS,
    [GENERATE_SEED] = {VALUE_SEED, AT(recipe.seed), 0},
    [GENERATE_DAYS] = {VALUE_NUMBER, AT(recipe.days), 0},
    [GENERATE_GPUS] = {VALUE_COUNT, AT(recipe.gpus), RECIPE_GPUS_MAX},
    [GENERATE_JOBS] = {VALUE_COUNT, AT(recipe.jobs), RECIPE_JOBS_MAX},
    [GENERATE_LOAD] = {VALUE_NUMBER, AT(recipe.load), 0},
    [GENERATE_FAILURES] = {VALUE_NUMBER, AT(recipe.failures_per_day), 0},
};

enum { CONVERT_FROM = _COMMON_OPTION_MAX, CONVERT_KEEP_PENDING };

static const struct command_option convert_options[] = {
    OUT_OPTION,
    CLUSTER_OPTION,
    [OPTION_QUEUES] = {0, "queues", "Q", NULL, "spread owners over this number of queues"},
    [OPTION_GPUS_PER_NODE] = {0, "gpus-per-node", "N", NULL, "GPUs per node when no file lists nodes (default 8)"},
    [CONVERT_FROM] = {0, "from", "alibaba|philly|prometheus|slurm", convert_sources,
                      "format of the files (default: detected from their columns)"},
    [CONVERT_KEEP_PENDING] = {0, "keep-pending", NULL, NULL, "keep workloads that never started"},
};

static const struct reader convert_readers[ARRAY_LEN(convert_options)] = {
    COMMON_READERS,
    [CONVERT_FROM] = {VALUE_TEXT, AT(from), 0},
    [CONVERT_KEEP_PENDING] = {VALUE_FLAG, AT(keeps_pending), 0},
};

static bool read_number(const struct arguments *a, const char *option, double *ret)
{
    char *end;

    *ret = strtod(a->value, &end);
    if (end != a->value && !*end && isfinite(*ret) && *ret >= 0)
        return true;
    (void)command_wrong(a->command, "--%s: expected a number, found '%s'", option, a->value);
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
    (void)command_wrong(a->command, "--seed: expected a whole number, found '%s'", a->value);
    return false;
}

static bool read_option(struct call *call, const struct arguments *a, const char *name, const struct reader *reader)
{
    void *at = (char *)call + reader->offset;

    switch (reader->kind) {
    case VALUE_TEXT:
        memcpy(at, &a->value, sizeof a->value);
        return true;
    case VALUE_NUMBER:
        return read_number(a, name, at);
    case VALUE_COUNT:
        return read_count(a, name, reader->max, at);
    case VALUE_SEED:
        return read_seed(a, at);
    case VALUE_FLAG:
        memcpy(at, &(bool){true}, sizeof(bool));
        return true;
    }
    return false;
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
        (void)fprintf(stderr, "muster: %u workloads have no times: they are submitted at the start and do not end\n",
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

/* Reads the options of a verb. Returns false when the verb ends with `*ret_status`. */
static bool read_call(struct call *call, const struct reader *readers, struct arguments *arguments, int *ret_status)
{
    int option;

    trace_recipe_init(&call->recipe);
    while ((option = arguments_next(arguments)) >= 0) {
        if (!read_option(call, arguments, arguments->command->options[option].long_name, &readers[option])) {
            *ret_status = EXIT_WRONG_CALL;
            return false;
        }
    }
    if (option != ARGUMENT_END)
        *ret_status = arguments_status(arguments, option);
    return option == ARGUMENT_END;
}

static int run_generate(const struct command *command, struct arguments *arguments)
{
    struct call call = {0};
    struct err err = {0};
    int status;
    int r;

    if (!read_call(&call, generate_readers, arguments, &status))
        return status;
    if (arguments->operand_count > 0)
        return command_wrong(command, "unexpected argument '%s'; 'muster trace convert' reads files",
                             arguments->operands[0]);
    r = generate(&call, &err);
    free(call.names);
    free(call.list);
    return r < 0 ? command_failed(r, &err) : EXIT_FINE;
}

static int run_convert(const struct command *command, struct arguments *arguments)
{
    struct call call = {0};
    struct err err = {0};
    int status;
    int r;

    if (!read_call(&call, convert_readers, arguments, &status))
        return status;
    if (arguments->operand_count == 0)
        return command_wrong(command, "a FILE is missing");
    r = convert(&call, arguments->operands, arguments->operand_count, &err);
    return r < 0 ? command_failed(r, &err) : EXIT_FINE;
}

static const char *const convert_examples[] = {
    "muster trace convert sacct.txt sinfo.txt --cluster cluster.yaml --out month.csv",
    "muster trace convert prometheus-*.json --cluster cluster.yaml --out month.csv",
    "muster trace convert openb_pod_list_default.csv openb_node_list_gpu_node.csv --cluster openb.yaml --out openb.csv",
    NULL,
};

static const struct command trace_convert_command = {
    .name = "trace convert",
    .summary = "convert records of a real cluster to a trace",
    .usage = "[OPTION...] FILE...",
    .text = "Reads records of Slurm accounting (sacct -P) and of Prometheus, and the public traces of Alibaba and\n"
            "Microsoft. Writes CSV; docs/traces.md lists the files and columns.\n",
    .options = convert_options,
    .option_count = ARRAY_LEN(convert_options),
    .examples = convert_examples,
    .run = run_convert,
};

static const char *const generate_examples[] = {
    "muster trace generate --seed 7 --days 7 --gpus 512 --jobs 5000 --cluster cluster.yaml --out week.csv",
    NULL,
};

static const struct command trace_generate_command = {
    .name = "trace generate",
    .summary = "generate a trace from a seed",
    .usage = "[OPTION...]",
    .text =
        "The trace has teams with working hours, weekends, bursts, gangs and fractions of GPUs. It is written as CSV\n"
        "(docs/traces.md).\n",
    .options = generate_options,
    .option_count = ARRAY_LEN(generate_options),
    .examples = generate_examples,
    .operands = OPERANDS_NONE,
    .run = run_generate,
};

static const struct command *const trace_verbs[] = {&trace_convert_command, &trace_generate_command, NULL};

static const char *const trace_examples[] = {
    "muster trace convert sacct.txt sinfo.txt --cluster cluster.yaml --out month.csv",
    "muster trace generate --days 7 --gpus 512 --jobs 5000 --cluster cluster.yaml --out week.csv",
    NULL,
};

const struct command trace_command = {
    .name = "trace",
    .summary = "convert records of a real cluster to a trace, or generate a trace",
    .usage = "VERB [OPTION...] [FILE...]",
    .text = "A trace is a CSV file of workloads that arrive and end over time, for 'muster simulate' and 'muster "
            "compare'.\n",
    .group = GROUP_TRY,
    .verbs = trace_verbs,
    .examples = trace_examples,
};
