/* SPDX-License-Identifier: Apache-2.0 */

/* muster top: nodes, queues and workloads, refreshed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/full_screen.h"
#include "cli/keys.h"
#include "cli/work/api.h"
#include "cli/work/find.h"
#include "cli/work/output.h"
#include "cli/work/queue_cells.h"
#include "cli/work/workload_cells.h"
#include "text/table.h"

#define REFRESH (2 * NSEC_PER_SEC)

/* Lines of the first two tables, of a whole screen; the workloads have the rest. */
enum { SHARE = 4, ROWS_MIN = 3, CHROME = 8, ANY_HEIGHT = 10000 };

/* What is shown, as of one reading of the server. */
struct picture {
    struct api_view view;
    struct arena arena;
    struct node_rows nodes;
    struct queue_rows queues;
    struct workload_rows workloads;
};

struct screen {
    struct terminal terminal;
    uint32_t first;  // of the workloads that are shown
    char problem[sizeof((struct err *)0)->text];
};

static void picture_done(struct picture *picture)
{
    vec_done(&picture->nodes);
    vec_done(&picture->queues);
    vec_done(&picture->workloads);
    arena_done(&picture->arena);
    api_view_done(&picture->view);
}

static int picture_read(struct picture *picture, struct api *api, struct err *err)
{
    int code;

    memset(picture, 0, sizeof *picture);
    arena_init(&picture->arena);
    code = api_read_view(api, VIEW_OF_EVERYTHING, NULL, &picture->view, err);
    if (code == 0)
        code = queue_rows_make(&picture->view.objects, nsec_now_wall(), &picture->arena, &picture->queues, err);
    if (code == 0) {
        node_rows_make(&picture->view.objects, &picture->arena, &picture->nodes);
        workload_rows_make(&picture->view.objects, &picture->arena, &picture->workloads);
    }
    return code;
}

/* Running ones first, then those that wait; those that have ended are the history's. */
static void live_workloads(const struct picture *picture, struct found *ret)
{
    for (int waits = 0; waits < 2; waits++) {
        vec_foreach (&picture->workloads, row) {
            bool is_running = row->state == ROW_RUNNING || row->state == ROW_TERMINATING;

            if (!row_is_finished(row) && is_running == !waits)
                vec_push(ret, row);
        }
    }
}

static void print_table(struct table *table, uint32_t left_out, const struct screen *screen, FILE *out)
{
    const struct table_view view = {.width = screen->terminal.width, .has_colour = screen->terminal.has_colour};

    table_print(table, &view, out);
    table_done(table);
    if (left_out > 0)
        (void)fprintf(out, "%sand %u more%s\n", style_start(STYLE_DIM, view.has_colour), left_out,
                      style_end(STYLE_DIM, view.has_colour));
    (void)fputc('\n', out);
}

static void print_title(const struct picture *picture, const struct found *live, const struct screen *screen, FILE *out)
{
    double gpus = 0;
    double used = 0;
    uint32_t running = 0;

    vec_foreach (&picture->nodes, node) {
        gpus += (double)node->gpus;
        used += (double)node->gpus_milli_used / 1000;
    }
    vec_foreach (live, row)
        running += (*row)->state == ROW_RUNNING;
    (void)fprintf(out, "%sGPUs %.6g of %.6g allocated   Nodes %u   Workloads %u running, %u waiting%s%s\n\n",
                  style_start(STYLE_BOLD, screen->terminal.has_colour), used, gpus, picture->nodes.len, running,
                  live->len - running, style_end(STYLE_BOLD, screen->terminal.has_colour),
                  screen->terminal.height ? "   q: quit" : "");
    if (*screen->problem)
        (void)fprintf(out, "%s%s%s\n\n", style_start(STYLE_BAD, screen->terminal.has_colour), screen->problem,
                      style_end(STYLE_BAD, screen->terminal.has_colour));
}

static void draw(const struct picture *picture, struct screen *screen, FILE *out)
{
    uint32_t height = screen->terminal.height ? screen->terminal.height : ANY_HEIGHT;
    uint32_t share = MAX(height / SHARE, (uint32_t)ROWS_MIN);
    struct node_rows nodes = picture->nodes;
    struct queue_rows queues = picture->queues;
    struct found live = {0};
    nsec_t now = nsec_now_wall();
    struct table t;

    live_workloads(picture, &live);
    print_title(picture, &live, screen, out);
    nodes.len = MIN(nodes.len, share);
    queues.len = MIN(queues.len, share);
    nodes_fill(&t, &nodes, false, now);
    print_table(&t, picture->nodes.len - nodes.len, screen, out);
    queues_fill(&t, &queues, false);
    print_table(&t, picture->queues.len - queues.len, screen, out);

    uint32_t room = MAX(height, nodes.len + queues.len + CHROME + ROWS_MIN) - nodes.len - queues.len - CHROME;
    screen->first = MIN(screen->first, live.len > room ? live.len - room : 0);
    uint32_t rest = MIN(live.len - screen->first, room);
    struct found shown = {.items = live.items ? live.items + screen->first : NULL, .len = rest};
    workloads_fill(&t, &shown, false, now);
    print_table(&t, live.len - screen->first - shown.len, screen, out);
    vec_done(&live);
}

static void show(const struct picture *picture, struct screen *screen)
{
    char *text = NULL;
    size_t len = 0;
    FILE *frame = open_memstream(&text, &len);

    if (!frame)
        return;
    if (full_screen_was_resized())
        screen->terminal = terminal_of(stdout);
    draw(picture, screen, frame);
    (void)fclose(frame);
    full_screen_show(text, screen->terminal.height);
    free(text);
}

static bool on_key(void *arg, int key)
{
    struct screen *screen = arg;
    (void)key_scroll(key, MAX(screen->terminal.height / 2, 1u), &screen->first);
    return key != 'q' && key != 'Q';
}

/* A server that is away for a while is waited for; what it said last stays. */
static void watch(struct api *api, struct picture *picture, struct screen *screen)
{
    enum full_screen_event event = SCREEN_IS_DUE;

    /* A screen follows its window, which a variable of the shell does not. */
    (void)unsetenv("COLUMNS");
    screen->terminal = terminal_of(stdout);
    full_screen_take();
    while (event != SCREEN_ENDS) {
        nsec_t until = nsec_now_monotonic() + REFRESH;

        do {
            show(picture, screen);
            event = full_screen_wait(until, on_key, screen);
        } while (event == SCREEN_CHANGED);
        if (event == SCREEN_IS_DUE) {
            struct picture next;
            struct err err = {0};
            int code = picture_read(&next, api, &err);

            (void)snprintf(screen->problem, sizeof screen->problem, "%s", code < 0 ? err.text : "");
            (void)table_clean(screen->problem);
            picture_done(code < 0 ? &next : picture);
            if (code == 0)
                *picture = next;
        }
    }
    full_screen_give_back();
}

enum { OPTION_ONCE = API_OPTION_COUNT };

static const struct command_option options[] = {
    API_OPTIONS,
    [OPTION_ONCE] = {0, "once", NULL, NULL, "print once and exit, also to files and pipes"},
};

static int run_top(const struct command *command, struct arguments *arguments)
{
    struct screen screen = {0};
    struct api_place place = {0};
    struct picture picture;
    struct err err = {0};
    struct api api = {0};
    bool is_once = false;
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        is_once = !api_place_set(&place, option, arguments->value) || is_once;
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count > 0)
        return command_wrong(command, "unexpected argument '%s'", arguments->operands[0]);
    if (!is_once && !terminal_of(stdout).can_redraw)
        return command_wrong(command, "this needs a terminal; 'muster top --once' prints to files and pipes");
    int code = api_open(&api, &place, &err);
    if (code == 0) {
        code = picture_read(&picture, &api, &err);
        screen.terminal = terminal_of(stdout);
        screen.terminal.height = is_once ? 0 : screen.terminal.height;
        if (code == 0 && is_once)
            draw(&picture, &screen, stdout);
        else if (code == 0)
            watch(&api, &picture, &screen);
        picture_done(&picture);
    }
    api_close(&api);
    return code < 0 ? command_failed(code, &err) : EXIT_FINE;
}

static const char *const examples[] = {"muster top", "muster top --once", NULL};

const struct command top_command = {
    .name = "top",
    .summary = "watch nodes, queues and workloads",
    .usage = "[--once]",
    .text = "Refreshes every two seconds. Arrow keys scroll the workloads, 'q' quits.\n",
    .group = GROUP_WORK,
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_top,
};
