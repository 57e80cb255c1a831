/* SPDX-License-Identifier: Apache-2.0 */

/* sinfo: nodes by partition and state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "cli/slurm/columns.h"
#include "cli/slurm/slurm.h"
#include "cli/work/api.h"
#include "objects/fields.h"
#include "views/nodes.h"

enum { NODES_MAX_BYTES = 4096 };

/* Nodes of one partition in one state, or one node. */
struct group {
    const char *partition;
    const char *state;
    const struct node_row *first;
    uint32_t nodes;
    struct strbuf names;
};

static const char *state_of(const struct node_row *row)
{
    int64_t free = row->gpus * 1000 - row->gpus_milli_used;

    if (!row->is_ready)
        return "down";
    if (row->is_cordoned)
        return row->pods > 0 ? "drng" : "drain";
    if (row->gpus > 0)
        return free <= 0 ? "alloc" : row->gpus_milli_used > 0 ? "mix" : "idle";
    return row->milli_cpus_used == 0 ? "idle" : row->milli_cpus_used < row->milli_cpus ? "mix" : "alloc";
}

#define CELL(name) static const char *name(const void *at, nsec_t now, struct arena *arena)
#define GROUP                       \
    const struct group *group = at; \
    (void)now;                      \
    (void)arena

CELL(partition)
{
    GROUP;
    return strcmp(group->partition, "default") == 0 ? "default*" : group->partition;
}

CELL(avail)
{
    GROUP;
    (void)group;
    return "up";
}

CELL(time_limit)
{
    GROUP;
    (void)group;
    return "infinite";
}

CELL(nodes)
{
    GROUP;
    return arena_printf(arena, "%u", group->nodes);
}

CELL(state)
{
    GROUP;
    return group->state;
}

CELL(node_list)
{
    GROUP;
    return group->names.text;
}

CELL(gres)
{
    GROUP;
    return group->first->gpus > 0 ? arena_printf(arena, "gpu:%lld", (long long)group->first->gpus) : "(null)";
}

CELL(cpus)
{
    GROUP;
    return arena_printf(arena, "%lld", (long long)(group->first->milli_cpus / 1000));
}

CELL(memory)
{
    GROUP;
    return arena_printf(arena, "%lld", (long long)(group->first->memory_bytes >> 20));
}

static const struct slurm_column columns[] = {
    {'P', "", "PARTITION", 0, partition}, {'R', "", "PARTITION", 0, partition},
    {'a', "", "AVAIL", 0, avail},         {'l', "", "TIMELIMIT", 0, time_limit},
    {'D', "", "NODES", 0, nodes},         {'t', "", "STATE", 0, state},
    {'T', "", "STATE", 0, state},         {'N', "", "NODELIST", 0, node_list},
    {'G', "", "GRES", 0, gres},           {'c', "", "CPUS", 0, cpus},
    {'m', "", "MEMORY", 0, memory},
};

struct groups VEC_OF(struct group);

static void add_node(struct groups *groups, const struct node_row *row, bool is_alone)
{
    const char *of = *row->pool ? row->pool : "default";
    const char *in = state_of(row);

    vec_foreach (groups, group) {
        if (!is_alone && strcmp(group->partition, of) == 0 && strcmp(group->state, in) == 0) {
            group->nodes++;
            if (group->names.len + strlen(row->name) + 2 < NODES_MAX_BYTES)
                strbuf_addf(&group->names, ",%s", row->name);
            return;
        }
    }
    vec_push(groups, (struct group){.partition = of, .state = in, .first = row, .nodes = 1});
    strbuf_init(&vec_last(groups).names, NODES_MAX_BYTES);
    strbuf_addstr(&vec_last(groups).names, row->name);
}

static int print(const struct node_rows *rows, const char *format, bool is_alone, bool has_header, struct arena *arena,
                 struct err *err)
{
    struct slurm_format pieces = {0};
    struct groups groups = {0};
    int code = slurm_format_parse(format, columns, ARRAY_LEN(columns), arena, &pieces, err);

    vec_foreach (rows, row)
        add_node(&groups, row, is_alone);
    if (code == 0 && has_header)
        slurm_format_print(&pieces, NULL, 0, arena);
    vec_foreach (&groups, group) {
        if (code == 0)
            slurm_format_print(&pieces, group, 0, arena);
        strbuf_done(&group->names);
    }
    vec_done(&groups);
    vec_done(&pieces);
    return code;
}

enum { OPTION_FORMAT, OPTION_NODE, OPTION_NO_HEADER };

static const struct command_option options[] = {
    [OPTION_FORMAT] = {'o', "format", "FORMAT", NULL, "columns, such as '%P %D %t %G'"},
    [OPTION_NODE] = {'N', "Node", NULL, NULL, "a line for each node"},
    [OPTION_NO_HEADER] = {'h', "noheader", NULL, NULL, "print no header line"},
};

static int run_sinfo(const struct command *command, struct arguments *arguments)
{
    const char *format = NULL;
    bool is_alone = false;
    bool has_header = true;
    struct node_rows rows = {0};
    struct api_view view = {0};
    struct err err = {0};
    struct api api = {0};
    struct arena arena;
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        format = option == OPTION_FORMAT ? arguments->value : format;
        is_alone = is_alone || option == OPTION_NODE;
        has_header = has_header && option != OPTION_NO_HEADER;
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count > 0)
        return command_wrong(command, "unexpected argument '%s'", arguments->operands[0]);
    if (!format)
        format = is_alone ? "%N %.6D %.9P %t" : "%9P %.5a %.10l %.6D %.6t %N";
    arena_init(&arena);
    int code = api_open(&api, &(struct api_place){0}, &err);
    if (code == 0)
        code = api_read_view(&api, 1u << VIEW_NODES | 1u << VIEW_PODS, NULL, &view, &err);
    if (code == 0) {
        node_rows_make(&view.objects, &arena, &rows);
        code = print(&rows, format, is_alone, has_header, &arena, &err);
    }
    vec_done(&rows);
    arena_done(&arena);
    api_view_done(&view);
    api_close(&api);
    return code < 0 ? command_failed(code, &err) : EXIT_FINE;
}

static const char *const examples[] = {"muster slurm sinfo", "muster slurm sinfo -N",
                                       "muster slurm sinfo -o '%P %D %t %G'", NULL};

const struct command sinfo_command = {
    .name = "slurm sinfo",
    .summary = "show nodes by partition and state",
    .usage = "[-N] [-h] [-o FORMAT]",
    .text = "Partitions are node pools; the default one is called 'default'.\n",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_sinfo,
};
