/* SPDX-License-Identifier: Apache-2.0 */

/* muster events: what happened to workloads and nodes, the newest last. */
#include "cli/work/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/work/find.h"
#include "cli/work/output.h"
#include "kube/client/meta.h"
#include "views/workloads.h"

enum { POD_SUFFIX_LEN = 5, JOINED_MAX = 64 };

static nsec_t time_of(yyjson_val *event)
{
    static const char *const keys[] = {"lastTimestamp", "eventTime", "firstTimestamp"};
    nsec_t time = 0;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const char *text = kube_text(event, keys[i]);

        if (*text && time_parse(text, &time, NULL) == 0)
            return time;
    }
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct event_row *one = a;
    const struct event_row *other = b;

    return (one->last > other->last) - (one->last < other->last);
}

void event_rows_make(const struct api_objects *events, struct event_rows *ret)
{
    vec_foreach (events, doc) {
        yyjson_val *event = yyjson_doc_get_root(*doc);
        yyjson_val *count = yyjson_obj_get(event, "count");

        vec_push(ret, (struct event_row){
                          .last = time_of(event),
                          .count = yyjson_is_int(count) ? yyjson_get_sint(count) : 1,
                          .type = kube_text(event, "type"),
                          .reason = kube_text(event, "reason"),
                          .namespace = kube_text(event, "metadata", "namespace"),
                          .kind = kube_text(event, "involvedObject", "kind"),
                          .name = kube_text(event, "involvedObject", "name"),
                          .message = kube_text(event, "message"),
                      });
    }
    if (ret->len > 0)
        qsort(ret->items, ret->len, sizeof *ret->items, by_time);
}

/* Only the next rows are looked through, since there may be thousands. */
static struct event_row *same_after(const struct event_rows *rows, uint32_t first, const struct event_row *row)
{
    for (uint32_t i = first; i < rows->len && i < first + JOINED_MAX; i++) {
        struct event_row *other = &rows->items[i];

        if (strcmp(other->reason, row->reason) == 0 && strcmp(other->type, row->type) == 0 &&
            strcmp(other->message, row->message) == 0)
            return other;
    }
    return NULL;
}

void event_rows_join(struct event_rows *rows)
{
    uint32_t first = rows->len;

    for (uint32_t i = rows->len; i-- > 0;) {
        struct event_row *same = same_after(rows, first, &rows->items[i]);

        if (same)
            same->count += rows->items[i].count;
        else
            rows->items[--first] = rows->items[i];
    }
    for (uint32_t i = first; i < rows->len; i++)
        rows->items[i - first] = rows->items[i];
    rows->len -= first;
}

void event_rows_print(const struct event_rows *rows, bool shows_object, nsec_t now)
{
    static const struct table_column columns[] = {
        {"OBJECT", TABLE_LEFT, TABLE_CUT},
        {"AGE", TABLE_RIGHT, TABLE_WHOLE},
        {"REASON", TABLE_LEFT, TABLE_WHOLE},
        {"MESSAGE", TABLE_LEFT, TABLE_WRAP},
    };
    struct table t;
    char age[AGE_TEXT_MAX];

    table_init(&t, columns + !shows_object, ARRAY_LEN(columns) - !shows_object);
    vec_foreach (rows, row) {
        if (shows_object)
            table_cell(&t, STYLE_PLAIN, "%s/%s", row->kind, row->name);
        table_cell(&t, STYLE_DIM, "%s", age_since(row->last, now, age));
        table_cell(&t, strcmp(row->type, "Warning") == 0 ? STYLE_WARN : STYLE_PLAIN, "%s", row->reason);
        if (row->count > 1)
            table_cell(&t, STYLE_PLAIN, "%s (%lld times)", row->message, (long long)row->count);
        else
            table_cell(&t, STYLE_PLAIN, "%s", row->message);
    }
    output_table(&t);
}

yyjson_mut_val *event_row_encode(const struct event_row *row, yyjson_mut_doc *doc)
{
    yyjson_mut_val *to = yyjson_mut_obj(doc);
    char time[TIME_TEXT_MAX];

    (void)yyjson_mut_obj_add_strcpy(doc, to, "namespace", row->namespace);
    (void)yyjson_mut_obj_add_strcpy(doc, to, "kind", row->kind);
    (void)yyjson_mut_obj_add_strcpy(doc, to, "name", row->name);
    (void)yyjson_mut_obj_add_strcpy(doc, to, "type", row->type);
    (void)yyjson_mut_obj_add_strcpy(doc, to, "reason", row->reason);
    (void)yyjson_mut_obj_add_strcpy(doc, to, "message", row->message);
    (void)yyjson_mut_obj_add_sint(doc, to, "count", row->count);
    (void)yyjson_mut_obj_add_strcpy(doc, to, "last", time_format(row->last, time));
    return to;
}

/* "abcde", or "3-abcde" for a pod with an index: the end that the names of a Job's pods have. */
static bool is_pod_end(const char *end)
{
    size_t digits = strspn(end, "0123456789");

    if (digits > 0 && end[digits] == '-')
        end += digits + 1;
    return strlen(end) == POD_SUFFIX_LEN && !strchr(end, '-');
}

bool event_is_about(const struct event_row *event, const struct workload_row *row)
{
    size_t len = strlen(row->name);

    if (strcmp(event->namespace, row->namespace) != 0)
        return false;
    if (strcmp(event->kind, row->kind) == 0 && strcmp(event->name, row->name) == 0)
        return true;
    if (strcmp(event->kind, "PodGroup") == 0)
        return strcmp(event->name, row->pod_group) == 0;
    return strcmp(event->kind, "Pod") == 0 && strncmp(event->name, row->name, len) == 0 && event->name[len] == '-' &&
           is_pod_end(event->name + len + 1);
}

struct call {
    struct api_place place;
    enum output output;
    bool is_everywhere;
    const char *workload;
};

static int keep_those_about(struct api *api, const char *workload, struct event_rows *rows, struct err *err)
{
    struct workload_set set = {0};
    const struct workload_row *row = NULL;
    int code = workload_set_read(&set, api, find_namespace(&workload, 1, api->namespace), err);
    uint32_t kept = 0;

    if (code == 0)
        code = workload_find_one(&set, workload, api->namespace, &row, err);
    for (uint32_t i = 0; code == 0 && i < rows->len; i++) {
        if (event_is_about(&rows->items[i], row))
            rows->items[kept++] = rows->items[i];
    }
    rows->len = kept;
    workload_set_done(&set);
    return code;
}

static int print(const struct call *call, const struct event_rows *rows)
{
    yyjson_mut_val *items;
    yyjson_mut_doc *doc;
    int status;

    if (output_is_table(call->output)) {
        if (rows->len == 0)
            (void)fputs("No events.\n", stderr);
        else
            event_rows_print(rows, true, nsec_now_wall());
        return EXIT_FINE;
    }
    doc = output_list(&items);
    vec_foreach (rows, row)
        (void)yyjson_mut_arr_append(items, event_row_encode(row, doc));
    status = output_print(call->output, doc);
    yyjson_mut_doc_free(doc);
    return status;
}

static int show(const struct call *call)
{
    struct api_objects objects = {0};
    struct event_rows rows = {0};
    struct err err = {0};
    struct api api = {0};
    int code = api_open(&api, &call->place, &err);
    const char *namespace =
        code == 0 && call->workload ? find_namespace(&call->workload, 1, api.namespace) : api.namespace;

    if (code == 0)
        code = api_list(&api, kube_known(KUBE_EVENTS), call->is_everywhere ? NULL : namespace, NULL, &objects, &err);
    if (code == 0) {
        event_rows_make(&objects, &rows);
        if (call->workload)
            code = keep_those_about(&api, call->workload, &rows, &err);
    }
    int status = code < 0 ? command_failed(code, &err) : print(call, &rows);

    vec_done(&rows);
    api_objects_done(&objects);
    api_close(&api);
    return status;
}

enum { OPTION_OUTPUT = API_OPTION_COUNT, OPTION_ALL_NAMESPACES };

static const struct command_option options[] = {
    API_OPTIONS,
    [OPTION_OUTPUT] = WORK_OUTPUT_OPTION,
    [OPTION_ALL_NAMESPACES] = {'A', "all-namespaces", NULL, NULL, "events of all namespaces"},
};

static int run_events(const struct command *command, struct arguments *arguments)
{
    struct call call = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (api_place_set(&call.place, option, arguments->value))
            continue;
        if (option == OPTION_OUTPUT)
            call.output = output_parse(arguments->value);
        else
            call.is_everywhere = true;
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count > 1)
        return command_wrong(command, "unexpected argument '%s'", arguments->operands[1]);
    call.workload = arguments->operand_count > 0 ? arguments->operands[0] : NULL;
    return show(&call);
}

static const char *const examples[] = {"muster events", "muster events train", "muster events -A -o json", NULL};

const struct command events_command = {
    .name = "events",
    .summary = "show what happened to workloads",
    .usage = "[-A] [-o table|wide|json|yaml] [WORKLOAD]",
    .text =
        "Lists the events of a workload, or of all in the namespace, the newest last. Servers keep them for an hour.\n",
    .group = GROUP_WORK,
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = examples,
    .operands = OPERANDS_LIVE_WORKLOADS,
    .run = run_events,
};
