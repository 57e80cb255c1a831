/* SPDX-License-Identifier: Apache-2.0 */

/* muster shadow: the record of a scheduler in shadow mode, as a table, as JSON and as a page. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/simulate_shared.h"
#include "sim/report/page.h"
#include "text/file.h"
#include "text/json.h"
#include "text/table.h"

#define RECORD_MAX ((size_t)1 << 30)
enum { ROWS_SHOWN = 200, TITLE_MAX = 4096 };
enum { OPTION_OUTPUT, OPTION_REPORT };

struct call {
    bool as_json;
    const char *report;  // NULL: none
};

static const struct command_option shadow_options[] = {
    OUTPUT_OPTION,
    {'r', "report", "FILE", NULL, "write a self-contained HTML page with charts"},
};

static const char *const shadow_examples[] = {
    "muster shadow differences.jsonl",
    "muster shadow --report differences.html differences.jsonl",
    "muster shadow -o json differences.jsonl | jq '.differences[] | select(.result == \"starts earlier\")'",
    NULL,
};

static const char *const results[] = {"starts earlier", "waits", "other node", "evicts", "spares"};

struct summary {
    uint64_t counts[ARRAY_LEN(results)];
    double gpu_seconds;
};

static const char *text_of(yyjson_val *object, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, key));

    return text ? text : "";
}

static double number_of(yyjson_val *object, const char *key)
{
    return yyjson_get_num(yyjson_obj_get(object, key));
}

/* The lines of the record as one array; a line that is cut off at the end is the one being written. */
static int read_record(const char *path, yyjson_mut_doc *doc, yyjson_mut_val *list, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;
    int r = file_read(path, RECORD_MAX, &text, &len, err);

    for (char *line = text; r >= 0 && line < text + len;) {
        char *end = memchr(line, '\n', (size_t)(text + len - line));
        yyjson_doc *one = NULL;

        if (!end)
            break;
        r = json_parse(line, (size_t)(end - line), file_name(path), &one, err);
        if (r >= 0)
            (void)yyjson_mut_arr_append(list, yyjson_val_mut_copy(doc, yyjson_doc_get_root(one)));
        yyjson_doc_free(one);
        line = end + 1;
    }
    return r;
}

static void add_up(yyjson_val *list, struct summary *summary)
{
    size_t i, count;
    yyjson_val *item;

    yyjson_arr_foreach(list, i, count, item)
    {
        for (size_t r = 0; r < ARRAY_LEN(results); r++)
            summary->counts[r] += strcmp(text_of(item, "result"), results[r]) == 0;
        if (strcmp(text_of(item, "result"), results[0]) == 0)
            summary->gpu_seconds += number_of(item, "seconds") * number_of(item, "gpus");
    }
}

static void print_row(struct table *t, yyjson_val *item)
{
    bool is_eviction = *text_of(item, "evictedFor") != '\0';
    bool is_spared = strcmp(text_of(item, "result"), "spares") == 0;
    const char *theirs = is_spared ? "evicted" : text_of(item, "theirNode");
    const char *ours = is_spared ? "keeps running" : is_eviction ? text_of(item, "evictedFor") : text_of(item, "node");
    double seconds = number_of(item, "seconds");

    table_cell(t, STYLE_PLAIN, "%s", text_of(item, "time"));
    table_cell(t, STYLE_WARN, "%s", text_of(item, "result"));
    table_cell(t, STYLE_PLAIN, "%s/%s", text_of(item, "namespace"), text_of(item, "pod"));
    table_cell(t, STYLE_PLAIN, "%s%s",
               is_eviction ? "evicted for "
               : *ours     ? ""
                           : "pending: ",
               *ours ? ours : text_of(item, "reason"));
    table_cell(t, STYLE_PLAIN, "%s", *theirs ? theirs : "-");
    table_cell(t, STYLE_PLAIN, "%.1f s", seconds);
    table_cell(t, STYLE_PLAIN, "%g", number_of(item, "gpus"));
}

static void print_table(yyjson_val *list, const struct summary *summary)
{
    static const struct table_column columns[] = {
        {"TIME", TABLE_LEFT, TABLE_WHOLE},
        {"RESULT", TABLE_LEFT, TABLE_WHOLE},
        {"POD", TABLE_LEFT, TABLE_CUT},
        {"MUSTER", TABLE_LEFT, TABLE_CUT},
        {"RUNNING SCHEDULER", TABLE_LEFT, TABLE_CUT},
        {"EARLIER BY", TABLE_RIGHT, TABLE_WHOLE},
        {"GPUS", TABLE_RIGHT, TABLE_WHOLE},
    };
    const struct table_view view = table_view_of(stdout);
    struct table t;
    size_t i, count;
    yyjson_val *item;

    table_init(&t, columns, ARRAY_LEN(columns));
    yyjson_arr_foreach(list, i, count, item)
    {
        if (i < ROWS_SHOWN)
            print_row(&t, item);
    }
    table_print(&t, &view, stdout);
    table_done(&t);
    if (yyjson_arr_size(list) > ROWS_SHOWN)
        (void)printf("and %zu more\n", yyjson_arr_size(list) - ROWS_SHOWN);
    (void)printf("\n");
    for (size_t r = 0; r < ARRAY_LEN(results); r++)
        (void)printf("%s%llu %s", r ? ", " : "", (unsigned long long)summary->counts[r], results[r]);
    (void)printf("; pods would have had %.2f GPU hours earlier\n", summary->gpu_seconds / 3600);
}

/* To be freed by the caller. */
static char *json_of(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct summary *summary)
{
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *counts = yyjson_mut_obj_add_obj(doc, root, "counts");

    for (size_t r = 0; r < ARRAY_LEN(results); r++)
        (void)yyjson_mut_obj_add_uint(doc, counts, results[r], summary->counts[r]);
    (void)yyjson_mut_obj_add_real(doc, root, "gpuSecondsEarlier", summary->gpu_seconds);
    (void)yyjson_mut_obj_add_val(doc, root, "differences", list);
    char *text = yyjson_mut_val_write(
        root, YYJSON_WRITE_PRETTY_TWO_SPACES | YYJSON_WRITE_NEWLINE_AT_END | YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    return text ? text : xstrdup("{}\n");
}

struct page_source {
    const char *record, *json;
};

static void write_page(void *context, FILE *out)
{
    const struct page_source *source = context;
    struct strbuf title;

    strbuf_init(&title, TITLE_MAX);
    strbuf_addf(&title, "Shadow: %s", source->record);
    page_write_shadow(out, title.text, source->json, strlen(source->json));
    strbuf_done(&title);
}

static int show(const char *record, const struct call *call, yyjson_mut_doc *doc, yyjson_mut_val *list, struct err *err)
{
    struct summary summary = {0};
    _cleanup_(json_doc_freep) yyjson_doc *read = yyjson_mut_doc_imut_copy(doc, NULL);

    add_up(yyjson_doc_get_root(read), &summary);
    _cleanup_(freep) char *json = json_of(doc, list, &summary);
    int r = call->report ? write_file(call->report, write_page, &(struct page_source){record, json}, err) : 0;

    if (r < 0)
        return r;
    if (call->as_json) {
        (void)fputs(json, stdout);
        return 0;
    }
    print_table(yyjson_doc_get_root(read), &summary);
    if (call->report)
        (void)printf("\nReport: %s\n", call->report);
    return 0;
}

static int run_shadow(const struct command *command, struct arguments *arguments)
{
    struct call call = {0};
    struct err err = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (option == OPTION_REPORT)
            call.report = arguments->value;
        else
            call.as_json = strcmp(arguments->value, "json") == 0;
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count != 1)
        return command_wrong(command, arguments->operand_count == 0 ? "a FILE is missing" : "expected one FILE");
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    int r = read_record(arguments->operands[0], doc, list, &err);

    yyjson_mut_doc_set_root(doc, list);
    if (r >= 0)
        r = show(arguments->operands[0], &call, doc, list, &err);
    yyjson_mut_doc_free(doc);
    return r < 0 ? command_failed(r, &err) : EXIT_FINE;
}

const struct command shadow_command = {
    .name = "shadow",
    .summary = "report where a scheduler in shadow mode decided differently",
    .usage = "[-o table|json] [--report FILE] FILE",
    .text =
        "FILE is what muster scheduler --shadow --shadow-record FILE has written: the pods that it would have started\n"
        "earlier, left pending, put on another node, evicted or spared from eviction, compared with the scheduler "
        "that\n"
        "runs the cluster. Nodes with the same free and total resources count as the same.\n",
    .group = GROUP_CLUSTER,
    .options = shadow_options,
    .option_count = ARRAY_LEN(shadow_options),
    .examples = shadow_examples,
    .operands = OPERANDS_PATHS,
    .run = run_shadow,
};
