/* SPDX-License-Identifier: Apache-2.0 */

/* muster queue: the tree of queues with its figures, and changes of queues. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/work/api.h"
#include "cli/work/output.h"
#include "cli/work/queue_cells.h"
#include "objects/fields.h"
#include "objects/keys.h"
#include "text/json.h"
#include "text/suggest.h"
#include "views/queues.h"

/* --- list --- */

enum { OPTION_OUTPUT = API_OPTION_COUNT };

static const struct command_option list_options[] = {
    API_OPTIONS,
    [OPTION_OUTPUT] = WORK_OUTPUT_OPTION,
};

static int print_queues(enum output output, const struct queue_rows *rows)
{
    yyjson_mut_val *items;
    yyjson_mut_doc *doc;
    int status;

    if (output_is_table(output)) {
        struct table t;

        queues_fill(&t, rows, output == OUTPUT_WIDE);
        output_table(&t);
        return EXIT_FINE;
    }
    doc = output_list(&items);
    vec_foreach (rows, row)
        (void)yyjson_mut_arr_append(items, queue_row_encode(row, doc));
    status = output_print(output, doc);
    yyjson_mut_doc_free(doc);
    return status;
}

/* One queue with those above and below it; all for NULL. Returns -EINVAL with the nearest name. */
static int keep_queue(struct queue_rows *rows, const char *name, struct err *err)
{
    struct suggestion suggestion;
    char hint[SUGGESTION_MAX];
    uint32_t depth = 0;
    bool is_below = false;
    uint32_t kept = 0;

    suggestion_init(&suggestion, name);
    for (uint32_t i = 0; i < rows->len; i++) {
        const struct queue_row row = rows->items[i];

        is_below = is_below && row.depth > depth;
        suggestion_offer(&suggestion, row.name);
        if (strcmp(row.name, name) == 0) {
            is_below = true;
            depth = row.depth;
        }
        if (is_below)
            rows->items[kept++] = row;
    }
    rows->len = kept;
    return kept > 0 ? 0
                    : err_set(err, -EINVAL, "there is no queue '%s'%s", name, suggestion_text(&suggestion, "", hint));
}

static int run_list(const struct command *command, struct arguments *arguments)
{
    enum output output = OUTPUT_TABLE;
    struct queue_rows rows = {0};
    struct api_place place = {0};
    struct api_view view = {0};
    struct err err = {0};
    struct api api = {0};
    struct arena arena;
    int option = output_read(arguments, &place, &output);

    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count > 1)
        return command_wrong(command, "unexpected argument '%s'", arguments->operands[1]);
    arena_init(&arena);
    int code = api_open(&api, &place, &err);
    if (code == 0)
        code = api_read_view(&api, VIEW_OF_EVERYTHING & ~(1u << VIEW_JOBS), NULL, &view, &err);
    if (code == 0)
        code = queue_rows_make(&view.objects, nsec_now_wall(), &arena, &rows, &err);
    if (code == 0 && arguments->operand_count > 0)
        code = keep_queue(&rows, arguments->operands[0], &err);
    int status = code < 0 ? command_failed(code, &err) : print_queues(output, &rows);
    vec_done(&rows);
    arena_done(&arena);
    api_view_done(&view);
    api_close(&api);
    return status;
}

static const char *const list_examples[] = {
    "muster queue",
    "muster queue list research",
    "muster queue -o json",
    NULL,
};

static const struct command list_verb = {
    .name = "queue list",
    .summary = "show the tree of queues with quota, fair share and use",
    .usage = "[-o table|wide|json|yaml] [QUEUE]",
    .text = "Figures are GPUs. FAIR SHARE is the share that the queue deserves now. ALLOCATED beyond the QUOTA is "
            "BORROWED and\n"
            "can be taken back; LENT is quota that siblings use. PENDING is the request of its pending pods.\n",
    .options = list_options,
    .option_count = ARRAY_LEN(list_options),
    .examples = list_examples,
    .operands = OPERANDS_LIVE_QUEUES,
    .run = run_list,
};

/* --- create and set --- */

enum {
    OPTION_QUOTA = API_OPTION_COUNT,
    OPTION_LIMIT,
    OPTION_WEIGHT,
    OPTION_PRIORITY,
    OPTION_PARENT,
    OPTION_DISPLAY_NAME,
    OPTION_GROUPS,
    OPTION_CPU_QUOTA,
    OPTION_CPU_LIMIT,
    OPTION_MEMORY_QUOTA,
    OPTION_MEMORY_LIMIT,
    CHANGE_OPTION_COUNT
};

static const struct command_option change_options[] = {
    API_OPTIONS,
    [OPTION_QUOTA] = {0, "quota", "GPUS", NULL, "GPUs that the queue is guaranteed, or 'unlimited'"},
    [OPTION_LIMIT] = {0, "limit", "GPUS", NULL, "most GPUs that the queue can have, or 'unlimited'"},
    [OPTION_WEIGHT] = {0, "weight", "NUMBER", NULL, "weight when idle GPUs are divided among siblings"},
    [OPTION_PRIORITY] = {0, "priority", "NUMBER", NULL, "queues with a higher priority are served first"},
    [OPTION_PARENT] = {0, "parent", "QUEUE", NULL, "parent queue"},
    [OPTION_DISPLAY_NAME] = {0, "display-name", "TEXT", NULL, "display name"},
    [OPTION_GROUPS] = {0, "groups", "GROUPS", NULL, "Unix groups that may submit to it, or 'all'"},
    [OPTION_CPU_QUOTA] = {0, "cpu-quota", "CPUS", NULL, "CPUs that the queue is guaranteed, or 'unlimited'"},
    [OPTION_CPU_LIMIT] = {0, "cpu-limit", "CPUS", NULL, "most CPUs that the queue can have, or 'unlimited'"},
    [OPTION_MEMORY_QUOTA] = {0, "memory-quota", "GIB", NULL,
                             "memory in GiB that the queue is guaranteed, or 'unlimited'"},
    [OPTION_MEMORY_LIMIT] = {0, "memory-limit", "GIB", NULL,
                             "most memory in GiB that the queue can have, or 'unlimited'"},
};

/* The place of a figure: spec.resources.RESOURCE.MEMBER, and how its unit is written there. */
static const struct {
    int option;
    const char *resource, *member;
    double unit;
} figures[] = {
    {OPTION_QUOTA, "gpu", "quota", 1},
    {OPTION_LIMIT, "gpu", "limit", 1},
    {OPTION_WEIGHT, "gpu", "overQuotaWeight", 1},
    {OPTION_CPU_QUOTA, "cpu", "quota", 1000},
    {OPTION_CPU_LIMIT, "cpu", "limit", 1000},
    {OPTION_MEMORY_QUOTA, "memory", "quota", 1073.741824},
    {OPTION_MEMORY_LIMIT, "memory", "limit", 1073.741824},
};

static bool read_figure(const char *text, double unit, double *ret)
{
    char *end;

    if (strcmp(text, "unlimited") == 0 || strcmp(text, "-1") == 0) {
        *ret = -1;
        return true;
    }
    *ret = strtod(text, &end) * unit;
    return end != text && !*end && *ret >= 0 && *ret < 1e12;
}

struct change {
    struct api_place place;
    const char *values[CHANGE_OPTION_COUNT];
    const char *name;
};

static int put_figures(const struct change *change, yyjson_mut_doc *doc, yyjson_mut_val *resources, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(figures); i++) {
        const char *text = change->values[figures[i].option];
        yyjson_mut_val *in = yyjson_mut_obj_get(resources, figures[i].resource);
        double number;

        if (!text)
            continue;
        if (!read_figure(text, figures[i].unit, &number))
            return err_set(err, -EINVAL, "--%s: expected a number, or 'unlimited'; found '%s'",
                           change_options[figures[i].option].long_name, text);
        if (!in)
            in = yyjson_mut_obj_add_obj(doc, resources, figures[i].resource);
        (void)yyjson_mut_obj_put(in, yyjson_mut_str(doc, figures[i].member), yyjson_mut_real(doc, number));
    }
    return 0;
}

static int put_spec(const struct change *change, yyjson_mut_doc *doc, yyjson_mut_val *spec, struct err *err)
{
    yyjson_mut_val *resources = yyjson_mut_obj_get(spec, "resources");
    int64_t priority;

    if (change->values[OPTION_PARENT])
        (void)yyjson_mut_obj_add_str(doc, spec, "parentQueue", change->values[OPTION_PARENT]);
    if (change->values[OPTION_DISPLAY_NAME])
        (void)yyjson_mut_obj_add_str(doc, spec, "displayName", change->values[OPTION_DISPLAY_NAME]);
    if (change->values[OPTION_PRIORITY]) {
        if (!int_parse(change->values[OPTION_PRIORITY], -1000000000, 1000000000, &priority))
            return err_set(err, -EINVAL, "--priority: expected a whole number; found '%s'",
                           change->values[OPTION_PRIORITY]);
        (void)yyjson_mut_obj_add_sint(doc, spec, "priority", priority);
    }
    if (!resources)
        resources = yyjson_mut_obj_add_obj(doc, spec, "resources");
    return put_figures(change, doc, resources, err);
}

/* CPU and memory of a new queue are not limited: people share GPUs. */
static void put_defaults(yyjson_mut_doc *doc, yyjson_mut_val *spec)
{
    static const char *const resources[] = {"gpu", "cpu", "memory"};
    yyjson_mut_val *in = yyjson_mut_obj_add_obj(doc, spec, "resources");

    for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
        yyjson_mut_val *at = yyjson_mut_obj_add_obj(doc, in, resources[i]);

        (void)yyjson_mut_obj_add_int(doc, at, "quota", i == 0 ? 0 : -1);
        (void)yyjson_mut_obj_add_int(doc, at, "limit", -1);
        (void)yyjson_mut_obj_add_int(doc, at, "overQuotaWeight", 1);
    }
}

static void put_groups(const char *groups, bool is_new, yyjson_mut_doc *doc, yyjson_mut_val *root)
{
    yyjson_mut_val *metadata = yyjson_mut_obj_get(root, "metadata");
    bool is_for_all = groups && strcmp(groups, "all") == 0;

    if (!groups || (is_new && is_for_all))
        return;
    if (!metadata)
        metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *annotations = yyjson_mut_obj_add_obj(doc, metadata, "annotations");
    if (is_for_all)
        (void)yyjson_mut_obj_add_null(doc, annotations, KEY_QUEUE_GROUPS);
    else
        (void)yyjson_mut_obj_add_str(doc, annotations, KEY_QUEUE_GROUPS, groups);
}

static int send_change(struct api *api, const struct change *change, bool is_new, struct err *err)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    struct api_answer answer = {0};
    yyjson_mut_val *spec;
    int code;

    if (is_new) {
        (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "scheduling.run.ai/v2");
        (void)yyjson_mut_obj_add_str(doc, root, "kind", "Queue");
        (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, root, "metadata"), "name", change->name);
    }
    put_groups(change->values[OPTION_GROUPS], is_new, doc, root);
    spec = yyjson_mut_obj_add_obj(doc, root, "spec");
    if (is_new)
        put_defaults(doc, spec);
    code = put_spec(change, doc, spec, err);
    if (code == 0)
        code = api_send_doc(api,
                            &(struct kube_request){
                                .verb = is_new ? KUBE_CREATE : KUBE_PATCH_MERGE,
                                .resource = kube_known(KUBE_QUEUES),
                                .name = is_new ? NULL : change->name,
                            },
                            doc, &answer, err);
    yyjson_mut_doc_free(doc);
    api_answer_done(&answer);
    if (answer.status == 404 && !is_new)
        return err_set(err, -EINVAL, "there is no queue '%s': 'muster queue create %s' makes one", change->name,
                       change->name);
    return code;
}

static int run_change(const struct command *command, struct arguments *arguments, bool is_new)
{
    struct change change = {0};
    struct err err = {0};
    struct api api = {0};
    bool has_change = is_new;
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (api_place_set(&change.place, option, arguments->value))
            continue;
        change.values[option] = arguments->value;
        has_change = true;
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count != 1)
        return command_wrong(command, "expected one QUEUE, found %zu", arguments->operand_count);
    if (!has_change)
        return command_wrong(command, "nothing to change: an option such as --quota is missing");
    change.name = arguments->operands[0];
    int code = api_open(&api, &change.place, &err);
    if (code == 0)
        code = send_change(&api, &change, is_new, &err);
    api_close(&api);
    if (code < 0)
        return command_failed(code, &err);
    printf("queue %s %s\n", change.name, is_new ? "created" : "changed");
    return EXIT_FINE;
}

static int run_create(const struct command *command, struct arguments *arguments)
{
    return run_change(command, arguments, true);
}

static int run_set(const struct command *command, struct arguments *arguments)
{
    return run_change(command, arguments, false);
}

static const char *const create_examples[] = {
    "muster queue create research --quota 16",
    "muster queue create vision --parent research --quota 4 --limit 8",
    NULL,
};

static const struct command create_verb = {
    .name = "queue create",
    .summary = "create a queue",
    .usage = "[--parent QUEUE] [--quota GPUS] [--limit GPUS] [OPTION...] QUEUE",
    .text = "Without options the queue has no quota and no limit, and gets an equal share of idle GPUs. Workloads can "
            "only be\n"
            "submitted to queues without child queues.\n",
    .options = change_options,
    .option_count = ARRAY_LEN(change_options),
    .examples = create_examples,
    .operands = OPERANDS_NONE,
    .run = run_create,
};

static const char *const set_examples[] = {
    "muster queue set vision --quota 8",
    "muster queue set vision --limit unlimited --weight 2",
    NULL,
};

static const struct command set_verb = {
    .name = "queue set",
    .summary = "change the quota, limit or parent of a queue",
    .usage = "[--quota GPUS] [--limit GPUS] [OPTION...] QUEUE",
    .options = change_options,
    .option_count = ARRAY_LEN(change_options),
    .examples = set_examples,
    .operands = OPERANDS_LIVE_QUEUES,
    .run = run_set,
};

/* --- delete --- */

static int run_delete(const struct command *command, struct arguments *arguments)
{
    struct err err = {0};
    struct api api;
    int status;
    size_t count = api_begin(command, arguments, "QUEUE", &api, &status) ? arguments->operand_count : 0;

    for (size_t i = 0; i < count; i++) {
        int deleted = api_send(&api,
                               &(struct kube_request){
                                   .verb = KUBE_DELETE,
                                   .resource = kube_known(KUBE_QUEUES),
                                   .name = arguments->operands[i],
                               },
                               NULL, &err);
        if (deleted < 0)
            status = MAX(status, command_failed(deleted, &err));
        else
            printf("queue %s deleted\n", arguments->operands[i]);
    }
    api_close(&api);
    return status;
}

static const char *const delete_examples[] = {"muster queue delete vision", NULL};

static const struct command delete_verb = {
    .name = "queue delete",
    .summary = "delete queues",
    .usage = "QUEUE...",
    .text =
        "Move its workloads to another queue first: pending ones cannot start without their queue, and running ones\n"
        "are not counted in any queue.\n",
    .options = change_options,
    .option_count = API_OPTION_COUNT,
    .examples = delete_examples,
    .operands = OPERANDS_LIVE_QUEUES,
    .run = run_delete,
};

static const struct command *const verbs[] = {&list_verb, &set_verb, &create_verb, &delete_verb, NULL};

const struct command queue_command = {
    .name = "queue",
    .summary = "show the tree of queues, and change queues",
    .usage = "[VERB] [ARGUMENT...]",
    .text = "Without a VERB the tree of queues is shown.\n",
    .group = GROUP_WORK,
    .verbs = verbs,
    .has_default_verb = true,
    .examples = list_examples,
};
