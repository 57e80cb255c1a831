/* SPDX-License-Identifier: Apache-2.0 */

/* squeue, sacct and scancel: jobs that wait or run, those that have ended, and ending them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "cli/slurm/columns.h"
#include "cli/slurm/job_columns.h"
#include "cli/slurm/slurm.h"
#include "cli/work/control.h"
#include "cli/work/find.h"
#include "cli/work/submit.h"

enum {
    OPTION_USER,
    OPTION_ME,
    OPTION_JOBS,
    OPTION_NAME,
    OPTION_STATES,
    OPTION_PARTITION,
    OPTION_ACCOUNT,
    OPTION_NO_HEADER,
    OPTION_FORMAT,
    OPTION_LONG,
    OPTION_PARSABLE,
    OPTION_ALL_USERS,
    OPTION_START,
    OPTION_END,
    OPTION_ALLOCATIONS,
    OPTION_SIGNAL,
    _OPTION_MAX
};

struct filter {
    const char *of[_OPTION_MAX];
};

/* Whether the list, with commas between its items, has the text in it. */
static bool list_has(const char *list, const char *text)
{
    size_t wanted = strlen(text);

    for (const char *at = list; *at;) {
        size_t len = strcspn(at, ",");

        if (len == wanted && strncasecmp(at, text, len) == 0)
            return true;
        at += len + (at[len] == ',');
    }
    return false;
}

static bool is_shown(const struct filter *filter, const struct workload_row *row, struct arena *arena)
{
    const char *partition = filter->of[OPTION_PARTITION];
    const char *jobs = filter->of[OPTION_JOBS];
    const char *states = filter->of[OPTION_STATES];

    return (!filter->of[OPTION_USER] || list_has(filter->of[OPTION_USER], row->user)) &&
           (!filter->of[OPTION_ME] || strcmp(submit_user(), row->user) == 0) &&
           (!filter->of[OPTION_NAME] || list_has(filter->of[OPTION_NAME], row->job_name)) &&
           (!filter->of[OPTION_ACCOUNT] || list_has(filter->of[OPTION_ACCOUNT], row->queue)) &&
           (!partition || list_has(partition, "default") || list_has(partition, row->queue)) &&
           (!states || list_has(states, "all") || list_has(states, slurm_state(row, true)) ||
            list_has(states, slurm_state(row, false))) &&
           (!jobs || list_has(jobs, slurm_job_id(row, arena)) || list_has(jobs, row->job_id) ||
            (*row->array_id && list_has(jobs, row->array_id)));
}

static bool is_of_time(const struct filter *filter, const struct workload_row *row)
{
    nsec_t from = 0;
    nsec_t until = NSEC_MAX;
    char text[64];

    for (int i = 0; i < 2; i++) {
        const char *value = filter->of[i == 0 ? OPTION_START : OPTION_END];

        if (!value)
            continue;
        (void)snprintf(text, sizeof text, "%.40s%sZ", value, strchr(value, 'T') ? "" : "T00:00:00");
        if (time_parse(text, i == 0 ? &from : &until, NULL) < 0)
            continue;
    }
    return (row->finished == 0 || row->finished >= from) && row->created <= until;
}

static int read_filter(struct arguments *arguments, const int *meaning, struct filter *filter)
{
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        filter->of[meaning[option]] = arguments->value ? arguments->value : "";
    return option;
}

typedef int (*jobs_fn)(struct api *api, const struct filter *filter, const struct workload_set *set,
                       const char *const *words, size_t count, struct err *err);

/* Reads all jobs that this user may see, and calls `act` with them. */
static int with_jobs(const struct filter *filter, const char *const *words, size_t count, jobs_fn act)
{
    struct workload_set set = {0};
    struct err err = {0};
    struct api api = {0};
    int code = api_open(&api, &(struct api_place){0}, &err);

    if (code == 0)
        code = workload_set_read(&set, &api, NULL, &err);
    if (code == 0)
        code = act(&api, filter, &set, words, count, &err);
    workload_set_done(&set);
    api_close(&api);
    return code < 0 ? command_failed(code, &err) : EXIT_FINE;
}

/* A command whose jobs are chosen by options alone. */
static int run_listing(const struct command *command, struct arguments *arguments, const int *meaning, jobs_fn act)
{
    struct filter filter = {0};
    int option = read_filter(arguments, meaning, &filter);

    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count > 0)
        return command_wrong(command, "unexpected argument '%s'", arguments->operands[0]);
    return with_jobs(&filter, NULL, 0, act);
}

/* --- squeue --- */

static const int squeue_meaning[] = {OPTION_USER,      OPTION_ME,      OPTION_JOBS,      OPTION_NAME,   OPTION_STATES,
                                     OPTION_PARTITION, OPTION_ACCOUNT, OPTION_NO_HEADER, OPTION_FORMAT, OPTION_LONG};

static const struct command_option squeue_options[] = {
    {'u', "user", "USERS", NULL, "jobs of these users"},
    {0, "me", NULL, NULL, "your own jobs"},
    {'j', "jobs", "NUMBERS", NULL, "these jobs"},
    {'n', "name", "NAMES", NULL, "jobs with these names"},
    {'t', "states", "STATES", NULL, "jobs in these states, such as PD,R or all"},
    {'p', "partition", "NAMES", NULL, "jobs of these partitions"},
    {'A', "account", "QUEUES", NULL, "jobs of these queues"},
    {'h', "noheader", NULL, NULL, "print no header line"},
    {'o', "format", "FORMAT", NULL, "columns, such as '%.18i %.8j %T'"},
    {'l', "long", NULL, NULL, "more columns"},
};

static int print_queue(struct api *api, const struct filter *filter, const struct workload_set *set,
                       const char *const *words, size_t count, struct err *err)
{
    const char *format = filter->of[OPTION_FORMAT];
    struct slurm_format columns = {0};
    nsec_t now = nsec_now_wall();
    struct arena arena;
    int code;

    (void)api;
    (void)words;
    (void)count;
    if (!format)
        format = filter->of[OPTION_LONG] ? "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
                                         : "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
    arena_init(&arena);
    code = slurm_format_parse(format, slurm_job_columns, slurm_job_column_count, &arena, &columns, err);
    if (code == 0 && !filter->of[OPTION_NO_HEADER])
        slurm_format_print(&columns, NULL, now, &arena);
    vec_foreach (&set->rows, row) {
        bool is_finished = row_is_finished(row) && !filter->of[OPTION_STATES];

        if (code == 0 && !is_finished && is_shown(filter, row, &arena))
            slurm_format_print(&columns, row, now, &arena);
    }
    vec_done(&columns);
    arena_done(&arena);
    return code;
}

static int run_squeue(const struct command *command, struct arguments *arguments)
{
    return run_listing(command, arguments, squeue_meaning, print_queue);
}

static const char *const squeue_examples[] = {"muster slurm squeue", "muster slurm squeue --me",
                                              "muster slurm squeue -t PD -o '%i %j %r'", NULL};

const struct command squeue_command = {
    .name = "slurm squeue",
    .summary = "list pending and running jobs",
    .usage = "[OPTION...]",
    .options = squeue_options,
    .option_count = ARRAY_LEN(squeue_options),
    .examples = squeue_examples,
    .operands = OPERANDS_NONE,
    .run = run_squeue,
};

/* --- sacct --- */

static const int sacct_meaning[] = {OPTION_USER,        OPTION_ALL_USERS, OPTION_JOBS,   OPTION_NAME,
                                    OPTION_STATES,      OPTION_ACCOUNT,   OPTION_START,  OPTION_END,
                                    OPTION_ALLOCATIONS, OPTION_NO_HEADER, OPTION_FORMAT, OPTION_PARSABLE};

static const struct command_option sacct_options[] = {
    {'u', "user", "USERS", NULL, "jobs of these users"},
    {'a', "allusers", NULL, NULL, "jobs of all users (default)"},
    {'j', "jobs", "NUMBERS", NULL, "these jobs"},
    {0, "name", "NAMES", NULL, "jobs with these names"},
    {'s', "state", "STATES", NULL, "jobs in these states"},
    {'A', "account", "QUEUES", NULL, "jobs of these queues"},
    {'S', "starttime", "TIME", NULL, "jobs that ended after this time"},
    {'E', "endtime", "TIME", NULL, "jobs that were submitted before this time"},
    {'X', "allocations", NULL, NULL, "accepted: there are no steps"},
    {'n', "noheader", NULL, NULL, "print no header line"},
    {'o', "format", "FIELDS", NULL, "fields, such as JobID,State,Elapsed%12"},
    {'P', "parsable2", NULL, NULL, "separate fields by '|'"},
};

static void print_parsable(const struct slurm_format *columns, const struct workload_row *row, nsec_t now,
                           struct arena *arena)
{
    vec_foreach (columns, piece)
        printf("%s%s", piece == columns->items ? "" : "|",
               row ? piece->column->text(row, now, arena) : piece->column->name);
    printf("\n");
}

/* Columns of sacct have a space between them, and a line of dashes below their titles. */
static void print_aligned(const struct slurm_format *columns, const struct workload_row *row, nsec_t now,
                          struct arena *arena)
{
    vec_foreach (columns, piece) {
        int width = (int)piece->width;
        const char *text = row ? piece->column->text(row, now, arena) : piece->column->name;

        printf("%*.*s ", piece->is_right ? width : -width, width, text);
    }
    printf("\n");
    if (row)
        return;
    vec_foreach (columns, piece) {
        for (uint32_t i = 0; i < piece->width; i++)
            (void)putchar('-');
        (void)putchar(' ');
    }
    printf("\n");
}

static int print_accounts(struct api *api, const struct filter *filter, const struct workload_set *set,
                          const char *const *words, size_t count, struct err *err)
{
    const char *names = filter->of[OPTION_FORMAT];
    struct slurm_format columns = {0};
    nsec_t now = nsec_now_wall();
    struct arena arena;
    int code;

    (void)api;
    (void)words;
    (void)count;
    if (!names)
        names = "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode";
    arena_init(&arena);
    code = slurm_names_parse(names, slurm_job_columns, slurm_job_column_count, &arena, &columns, err);
    void (*print)(const struct slurm_format *, const struct workload_row *, nsec_t, struct arena *) =
        filter->of[OPTION_PARSABLE] ? print_parsable : print_aligned;
    if (code == 0 && !filter->of[OPTION_NO_HEADER])
        print(&columns, NULL, now, &arena);
    vec_foreach (&set->rows, row) {
        if (code == 0 && is_shown(filter, row, &arena) && is_of_time(filter, row))
            print(&columns, row, now, &arena);
    }
    vec_done(&columns);
    arena_done(&arena);
    return code;
}

static int run_sacct(const struct command *command, struct arguments *arguments)
{
    return run_listing(command, arguments, sacct_meaning, print_accounts);
}

static const char *const sacct_examples[] = {"muster slurm sacct",
                                             "muster slurm sacct -j 12 --format=JobID,State,ExitCode,Elapsed",
                                             "muster slurm sacct -X -P -n", NULL};

const struct command sacct_command = {
    .name = "slurm sacct",
    .summary = "list jobs with their exit codes",
    .usage = "[OPTION...]",
    .text = "Jobs are listed until they are removed, a week after they ended.\n",
    .options = sacct_options,
    .option_count = ARRAY_LEN(sacct_options),
    .examples = sacct_examples,
    .operands = OPERANDS_NONE,
    .run = run_sacct,
};

/* --- scancel --- */

static const int scancel_meaning[] = {OPTION_USER,      OPTION_ME,      OPTION_NAME,  OPTION_STATES,
                                      OPTION_PARTITION, OPTION_ACCOUNT, OPTION_SIGNAL};

static const struct command_option scancel_options[] = {
    {'u', "user", "USERS", NULL, "jobs of these users"},
    {0, "me", NULL, NULL, "your own jobs"},
    {'n', "name", "NAMES", NULL, "jobs with these names"},
    {'t', "state", "STATES", NULL, "jobs in these states"},
    {'p', "partition", "NAMES", NULL, "jobs of these partitions"},
    {'A', "account", "QUEUES", NULL, "jobs of these queues"},
    {'s', "signal", "SIGNAL", NULL, "TERM or KILL; jobs get SIGTERM, then SIGKILL after a grace period"},
};

static bool is_named(const struct workload_row *row, const char *const *words, size_t count, struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], slurm_job_id(row, arena)) == 0 || strcmp(words[i], row->job_id) == 0 ||
            (*row->array_id && strcmp(words[i], row->array_id) == 0))
            return true;
    }
    return count == 0;
}

static int cancel_jobs(struct api *api, const struct filter *filter, const struct workload_set *set,
                       const char *const *words, size_t count, struct err *err)
{
    struct arena arena;
    bool is_found = false;
    int code = 0;

    arena_init(&arena);
    vec_foreach (&set->rows, row) {
        if (code < 0 || !is_shown(filter, row, &arena) || !is_named(row, words, count, &arena))
            continue;
        is_found = true;
        if (!row_is_finished(row))
            code = workload_cancel(api, row, err);
    }
    arena_done(&arena);
    if (code == 0 && !is_found && count > 0)
        code = err_set(err, -EIO, "scancel: error: Invalid job id %s", words[0]);
    return code;
}

static int run_scancel(const struct command *command, struct arguments *arguments)
{
    struct filter filter = {0};
    int option = read_filter(arguments, scancel_meaning, &filter);
    const char *signal = filter.of[OPTION_SIGNAL];
    bool has_filter = false;

    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    for (int i = 0; i < OPTION_SIGNAL; i++)
        has_filter = has_filter || filter.of[i];
    if (arguments->operand_count == 0 && !has_filter)
        return command_wrong(command, "the number of a job, or an option such as --me, is missing");
    if (signal && !list_has("TERM,SIGTERM,15,KILL,SIGKILL,9", signal))
        return command_wrong(command, "--signal: jobs can be sent TERM and KILL, found '%s'", signal);
    return with_jobs(&filter, arguments->operands, arguments->operand_count, cancel_jobs);
}

static const char *const scancel_examples[] = {"muster slurm scancel 12", "muster slurm scancel 12_3 13",
                                               "muster slurm scancel --me -t PD", NULL};

const struct command scancel_command = {
    .name = "slurm scancel",
    .summary = "end jobs",
    .usage = "[OPTION...] [NUMBER...]",
    .options = scancel_options,
    .option_count = ARRAY_LEN(scancel_options),
    .examples = scancel_examples,
    .operands = OPERANDS_NONE,
    .run = run_scancel,
};
