/* SPDX-License-Identifier: Apache-2.0 */

/* muster describe: all that is known about one workload, with its pods and events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/work/api.h"
#include "cli/work/events.h"
#include "cli/work/find.h"
#include "cli/work/output.h"
#include "cli/work/pods.h"
#include "cli/work/workload_cells.h"
#include "kube/client/meta.h"
#include "objects/keys.h"
#include "text/quantity.h"

enum { OPTION_OUTPUT = API_OPTION_COUNT, LINE_BYTES = 4096 };

static const struct command_option options[] = {
    API_OPTIONS,
    [OPTION_OUTPUT] = WORK_OUTPUT_OPTION,
};

/* Texts of others must not reach the terminal as they are. */
static void line(const char *title, const char *text)
{
    char shown[LINE_BYTES];

    (void)snprintf(shown, sizeof shown, "%s", text);
    (void)table_clean(shown);
    if (*text)
        printf("%-11s %s\n", title, shown);
}

static void line_of_time(const char *title, nsec_t time, nsec_t now)
{
    char text[TIME_TEXT_MAX];
    char age[AGE_TEXT_MAX];

    if (time)
        printf("%-11s %s (%s ago)\n", title, time_format(time / NSEC_PER_SEC * NSEC_PER_SEC, text),
               age_since(time, now, age));
}

static void print_state(const struct workload_row *row)
{
    bool has_colour = terminal_of(stdout).has_colour;
    enum text_style style = row_state_style(row->state);
    const char *words = row_reason_words(row->reason);

    printf("%-11s %s%s%s%s%s\n", "State", style_start(style, has_colour), row_state_name(row->state),
           style_end(style, has_colour), *words ? ": " : "", words);
    line("Message", row->message);
}

static void print_requests(const struct workload_row *row)
{
    char gpus[ASKED_TEXT_MAX];
    char cpus[QUANTITY_TEXT_MAX];
    char memory[QUANTITY_TEXT_MAX];

    line("GPUs", asked_gpus_format(&row->asked, gpus));
    if (row->asked.milli_cpus > 0)
        line("CPUs", quantity_format(row->asked.milli_cpus, QUANTITY_MILLI, cpus));
    if (row->asked.memory_bytes > 0)
        line("Memory", quantity_format(row->asked.memory_bytes, QUANTITY_ONE, memory));
    printf("%-11s %lld of %lld running", "Pods", (long long)row->pods_running, (long long)row->pods);
    if (row->pods_succeeded)
        printf(", %lld succeeded", (long long)row->pods_succeeded);
    if (row->pods_failed)
        printf(", %lld failed", (long long)row->pods_failed);
    printf("\n");
}

static void print_row(const struct workload_row *row, nsec_t now)
{
    char age[AGE_TEXT_MAX];

    printf("%-11s %s/%s\n", "Workload", row->namespace, row->name);
    line("Kind", row->kind);
    if (*row->array_id)
        printf("%-11s %s (element %s of array %s)\n", "Job", row->job_id, row->array_index, row->array_id);
    else
        line("Job", row->job_id);
    line("User", row->user);
    line("Queue", row->queue);
    line("Priority", row->priority_class);
    print_state(row);
    line("Dependency", kube_text(row->job, "metadata", "annotations", KEY_DEPENDENCY));
    print_requests(row);
    line_of_time("Submitted", row->created, now);
    line_of_time("Started", row->started, now);
    line_of_time("Ended", row->finished, now);
    if (row->started)
        line("Run time", age_format(row_run_time(row, now), age));
    if (row_is_finished(row))
        printf("%-11s %d\n", "Exit code", row->exit_code);
}

static const char *pod_state(yyjson_val *pod)
{
    return *kube_text(pod, "metadata", "deletionTimestamp") ? "Terminating" : kube_text(pod, "status", "phase");
}

static void print_pods(const struct workload_set *set, const struct workload_row *row, nsec_t now)
{
    static const struct table_column columns[] = {
        {"POD", TABLE_LEFT, TABLE_CUT},
        {"STATE", TABLE_LEFT, TABLE_WHOLE},
        {"NODE", TABLE_LEFT, TABLE_CUT},
        {"AGE", TABLE_RIGHT, TABLE_WHOLE},
    };
    struct view_list pods = {0};
    struct table t;

    workload_pods(set, row, &pods);
    table_init(&t, columns, ARRAY_LEN(columns));
    vec_foreach (&pods, pod) {
        const char *node = kube_text(*pod, "spec", "nodeName");
        nsec_t created = 0;
        char age[AGE_TEXT_MAX];

        if (time_parse(kube_text(*pod, "metadata", "creationTimestamp"), &created, NULL) < 0)
            created = 0;
        table_cell(&t, STYLE_PLAIN, "%s", kube_text(*pod, "metadata", "name"));
        table_cell(&t, STYLE_PLAIN, "%s", pod_state(*pod));
        table_cell(&t, STYLE_PLAIN, "%s", *node ? node : "-");
        table_cell(&t, STYLE_PLAIN, "%s", age_since(created, now, age));
    }
    if (pods.len > 0) {
        printf("\n");
        output_table(&t);
    } else {
        table_done(&t);
    }
    vec_done(&pods);
}

static int print_events(struct api *api, const struct workload_row *row, nsec_t now, struct err *err)
{
    struct api_objects objects = {0};
    struct event_rows all = {0};
    uint32_t kept = 0;
    int code = api_list(api, kube_known(KUBE_EVENTS), row->namespace, NULL, &objects, err);

    if (code == 0) {
        event_rows_make(&objects, &all);
        for (uint32_t i = 0; i < all.len; i++) {
            if (event_is_about(&all.items[i], row))
                all.items[kept++] = all.items[i];
        }
        all.len = kept;
        if (kept > 0) {
            printf("\n");
            event_rows_join(&all);
            event_rows_print(&all, false, now);
        }
    }
    vec_done(&all);
    api_objects_done(&objects);
    return code;
}

static int print(struct api *api, const struct workload_set *set, const struct workload_row *row, enum output output,
                 struct err *err)
{
    nsec_t now = nsec_now_wall();

    if (output_is_table(output)) {
        print_row(row, now);
        print_pods(set, row, now);
        return print_events(api, row, now, err);
    }
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc_set_root(doc, workload_row_encode(row, doc));
    (void)output_print(output, doc);
    yyjson_mut_doc_free(doc);
    return 0;
}

static int run_describe(const struct command *command, struct arguments *arguments)
{
    const struct workload_row *row = NULL;
    enum output output = OUTPUT_TABLE;
    struct workload_set set = {0};
    struct api_place place = {0};
    struct err err = {0};
    struct api api = {0};
    int option = output_read(arguments, &place, &output);

    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count != 1)
        return command_wrong(command, "expected one WORKLOAD, found %zu", arguments->operand_count);
    int code = api_open(&api, &place, &err);
    if (code == 0)
        code = workload_set_read(&set, &api, find_namespace(arguments->operands, 1, api.namespace), &err);
    if (code == 0)
        code = workload_find_one(&set, arguments->operands[0], api.namespace, &row, &err);
    if (code == 0)
        code = print(&api, &set, row, output, &err);
    workload_set_done(&set);
    api_close(&api);
    return code < 0 ? command_failed(code, &err) : EXIT_FINE;
}

static const char *const examples[] = {
    "muster describe train",
    "muster describe team-a/train",
    "muster describe 12_3 -o json",
    NULL,
};

const struct command describe_command = {
    .name = "describe",
    .summary = "show a workload with its pods, events and the reason why it waits",
    .usage = "[-o table|wide|json|yaml] WORKLOAD",
    .text = "WORKLOAD is a name, namespace/name, the number of a job, or an element of an array such as 12_3.\n",
    .group = GROUP_WORK,
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = examples,
    .operands = OPERANDS_LIVE_WORKLOADS,
    .run = run_describe,
};
