/* SPDX-License-Identifier: Apache-2.0 */

/* muster gpu top: who uses which GPU, once or again and again. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/gpu.h"
#include "text/json.h"
#include "text/table.h"

static const struct table_column gpu_columns[] = {
    {"GPU", TABLE_LEFT, TABLE_CUT},     {"NAME", TABLE_LEFT, TABLE_CUT},        {"MEMORY", TABLE_LEFT, TABLE_WHOLE},
    {"USED", TABLE_RIGHT, TABLE_WHOLE}, {"PROMISED", TABLE_RIGHT, TABLE_WHOLE}, {"TO GIVE", TABLE_RIGHT, TABLE_WHOLE},
};

static const struct table_column group_columns[] = {
    {"GROUP", TABLE_LEFT, TABLE_CUT},    {"GPU", TABLE_LEFT, TABLE_CUT},      {"MODE", TABLE_LEFT, TABLE_WHOLE},
    {"STATE", TABLE_LEFT, TABLE_WHOLE},  {"SHARE", TABLE_RIGHT, TABLE_WHOLE}, {"NOW", TABLE_RIGHT, TABLE_WHOLE},
    {"MEMORY", TABLE_LEFT, TABLE_WHOLE}, {"USED", TABLE_RIGHT, TABLE_WHOLE},  {"REQUEST", TABLE_RIGHT, TABLE_WHOLE},
    {"LIMIT", TABLE_RIGHT, TABLE_WHOLE}, {"PROCS", TABLE_RIGHT, TABLE_WHOLE}, {"REFUSED", TABLE_RIGHT, TABLE_WHOLE},
};

enum { BAR_WIDTH = 20 };

static void bar(char text[static BAR_WIDTH + 3], double part)
{
    int full = (int)(CLAMP(part, 0.0, 1.0) * BAR_WIDTH + 0.5);

    text[0] = '[';
    memset(text + 1, '|', (size_t)full);
    memset(text + 1 + full, ' ', (size_t)(BAR_WIDTH - full));
    text[BAR_WIDTH + 1] = ']';
    text[BAR_WIDTH + 2] = '\0';
}

static double number(yyjson_val *at, const char *key)
{
    return yyjson_get_num(yyjson_obj_get(at, key));
}

static const char *text_of(yyjson_val *at, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(at, key));

    return text ? text : "";
}

static void gib(struct table *t, double bytes)
{
    table_cell(t, TABLE_PLAIN, "%.1f Gi", bytes / (double)(1 << 30));
}

static enum table_style style_of(double part)
{
    return part > 0.95 ? TABLE_BAD : part > 0.8 ? TABLE_WARN : TABLE_GOOD;
}

static void add_gpu(struct table *t, yyjson_val *gpu)
{
    double capacity = number(gpu, "capacityBytes");
    double taken = number(gpu, "takenBytes");
    double part = capacity > 0 ? taken / capacity : 0;
    char drawn[BAR_WIDTH + 3];

    bar(drawn, part);
    table_cell(t, TABLE_PLAIN, "%.12s", text_of(gpu, "uuid"));
    table_cell(t, TABLE_DIM, "%s", text_of(gpu, "name"));
    table_cell(t, style_of(part), "%s", drawn);
    gib(t, taken);
    gib(t, number(gpu, "requestedBytes"));
    gib(t, capacity);
}

static void add_group(struct table *t, yyjson_val *group)
{
    double used = number(group, "usedBytes") + number(group, "contextBytes");
    double limit = number(group, "limitBytes");
    double part = limit > 0 ? used / limit : 0;
    char drawn[BAR_WIDTH + 3];

    bar(drawn, part);
    table_cell(t, TABLE_PLAIN, "%s", text_of(group, "group"));
    table_cell(t, TABLE_DIM, "%.12s", text_of(group, "gpu"));
    table_cell(t, TABLE_PLAIN, "%s", text_of(group, "mode"));
    table_cell(t, strcmp(text_of(group, "state"), "stuck") == 0 ? TABLE_BAD : TABLE_PLAIN, "%s",
               text_of(group, "state"));
    table_cell(t, TABLE_PLAIN, "%.1f %%", 100 * number(group, "share"));
    table_cell(t, TABLE_PLAIN, "%.1f %%", 100 * number(group, "shareActual"));
    table_cell(t, style_of(part), "%s", drawn);
    gib(t, used);
    gib(t, number(group, "requestBytes"));
    gib(t, limit);
    table_cell(t, TABLE_PLAIN, "%zu", yyjson_arr_size(yyjson_obj_get(group, "processes")));
    table_cell(t, number(group, "denied") > 0 ? TABLE_WARN : TABLE_DIM, "%.0f", number(group, "denied"));
}

static int print_tables(const char *status, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct table_view view = table_view_of(stdout);
    struct table gpus;
    struct table groups;
    yyjson_val *root;
    yyjson_val *item;
    size_t i;
    size_t count;
    int r = json_parse(status, strlen(status), "the daemon's answer", &doc, err);

    if (r < 0)
        return r;
    root = yyjson_doc_get_root(doc);
    table_init(&gpus, gpu_columns, ARRAY_LEN(gpu_columns));
    table_init(&groups, group_columns, ARRAY_LEN(group_columns));
    yyjson_arr_foreach(yyjson_obj_get(root, "gpus"), i, count, item)
    {
        add_gpu(&gpus, item);
    }
    yyjson_arr_foreach(yyjson_obj_get(root, "groups"), i, count, item)
    {
        add_group(&groups, item);
    }
    table_print(&gpus, &view, stdout);
    (void)putchar('\n');
    table_print(&groups, &view, stdout);
    if (number(root, "unregisteredProcesses") > 0)
        (void)printf("\n%.0f processes were seen on shared GPUs that are no tenants.\n",
                     number(root, "unregisteredProcesses"));
    table_done(&gpus);
    table_done(&groups);
    return 0;
}

static volatile sig_atomic_t has_ended;

static void on_end(int signal)
{
    (void)signal;
    has_ended = 1;
}

static int show(const struct gpu_call *call, struct err *err)
{
    _cleanup_(freep) char *status = NULL;
    int r = gpu_ask(call->folder, "GET", "/v1/status", NULL, &status, err);

    if (r < 0)
        return r;
    if (!call->as_json)
        return print_tables(status, err);
    (void)puts(status);
    return 0;
}

int gpu_top(const struct command *command, const struct gpu_call *call)
{
    bool again = !call->once && isatty(STDOUT_FILENO);
    struct err err = {0};
    int r;

    if (call->word_count > 0)
        return command_wrong(command, "what is '%s'?", call->words[0]);
    if (again) {
        (void)signal(SIGINT, on_end);
        (void)signal(SIGTERM, on_end);
        (void)fputs("\033[?1049h\033[?25l", stdout);
    }
    do {
        if (again)
            (void)fputs("\033[H\033[2J", stdout);
        r = show(call, &err);
        (void)fflush(stdout);
        if (again && r >= 0)
            (void)usleep(1000000);
    } while (again && r >= 0 && !has_ended);
    if (again)
        (void)fputs("\033[?25h\033[?1049l", stdout);
    return r < 0 ? command_failed(r, &err) : EXIT_FINE;
}
