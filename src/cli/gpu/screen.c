/* SPDX-License-Identifier: Apache-2.0 */

/* A picture is made as lines of text, of which as many are printed as fit. */
#include "cli/gpu/screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cli/gpu/columns.h"
#include "cli/gpu/daemon_status.h"
#include "cli/keys.h"

enum { BAR_NARROW = 8, WIDE = 100, TEXT_SIZE = 256, ANY_WIDTH = 200, CHROME = 5 };

struct line_list VEC_OF(struct gpu_line);

static const struct {
    const char *name;
    char key;
} sorts[] = {
    [GPU_SORT_NAME] = {"name", 'n'},
    [GPU_SORT_MEMORY] = {"memory", 'm'},
    [GPU_SORT_COMPUTE] = {"compute", 'c'},
    [GPU_SORT_WAITING] = {"waiting", 'w'},
};
_Static_assert(ARRAY_LEN(sorts) == GPU_SORT_COUNT_, "every order has a name");

/* Most first; names decide among equals, so that lines do not jump. */
static double key_of(enum gpu_sort sort, yyjson_val *group)
{
    switch (sort) {
    case GPU_SORT_MEMORY:
        return gpu_memory_of(group);
    case GPU_SORT_COMPUTE:
        return gpu_number_of(group, "shareActual");
    case GPU_SORT_WAITING:
        return gpu_is_waiting(group) ? 1 : 0;
    case GPU_SORT_NAME:
    case GPU_SORT_COUNT_:
        break;
    }
    return 0;
}

static int compare_lines(const void *left, const void *right)
{
    const struct gpu_line *a = left;
    const struct gpu_line *b = right;

    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    int r = strcmp(gpu_text_of(a->at, "group"), gpu_text_of(b->at, "group"));
    return r != 0 ? r : strcmp(gpu_text_of(a->at, "gpu"), gpu_text_of(b->at, "gpu"));
}

static void sort_groups(const struct gpu_frame *f, struct line_list *to)
{
    yyjson_val *group;
    size_t i;
    size_t count;

    yyjson_arr_foreach(f->groups, i, count, group)
    {
        vec_push(to, (struct gpu_line){.at = group, .key = key_of(f->screen->sort, group)});
    }
    if (to->len > 0)
        qsort(to->items, to->len, sizeof *to->items, compare_lines);
    for (uint32_t low = 0; f->screen->is_reversed && low < to->len / 2; low++) {
        struct gpu_line kept = to->items[low];

        to->items[low] = to->items[to->len - 1 - low];
        to->items[to->len - 1 - low] = kept;
    }
}

static void add_processes(struct line_list *to, yyjson_val *group)
{
    yyjson_val *process;
    size_t i;
    size_t count;

    yyjson_arr_foreach(yyjson_obj_get(group, "processes"), i, count, process)
    {
        vec_push(to, (struct gpu_line){.at = group, .process = process});
    }
}

/* Prints the titles, and `count` lines from the given one on. */
static void print_lines(const struct gpu_frame *f, const struct gpu_column *columns, size_t column_count,
                        const struct gpu_line *lines, uint32_t count, FILE *out)
{
    struct table_view view = {.width = f->screen->width, .has_colour = f->screen->has_colour};
    struct table_column heads[GPU_COLUMNS_MAX];
    struct table t;
    size_t shown = 0;

    for (size_t i = 0; i < column_count; i++) {
        if (columns[i].from <= f->width)
            heads[shown++] = columns[i].head;
    }
    table_init(&t, heads, shown);
    for (uint32_t line = 0; line < count; line++) {
        for (size_t i = 0; i < column_count; i++) {
            if (columns[i].from <= f->width)
                columns[i].add(&t, f, &lines[line]);
        }
    }
    table_print(&t, &view, out);
    table_done(&t);
}

static size_t count_processes(const struct gpu_frame *f)
{
    size_t found = 0;
    yyjson_val *group;
    size_t i;
    size_t count;

    yyjson_arr_foreach(f->groups, i, count, group)
    {
        found += yyjson_arr_size(yyjson_obj_get(group, "processes"));
    }
    return found;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Prints one line, of which only as much is shown as fits. */
static void print_line(const struct gpu_frame *f, enum text_style style, const char *text, FILE *out)
{
    bool has_colour = f->screen->has_colour;
    int width = f->screen->width > 0 ? (int)f->screen->width : (int)strlen(text);

    (void)fprintf(out, "%s%.*s%s\n", style_start(style, has_colour), width, text, style_end(style, has_colour));
}

static void print_summary(const struct gpu_frame *f, FILE *out)
{
    size_t gpus = yyjson_arr_size(f->gpus);
    size_t groups = yyjson_arr_size(f->groups);
    size_t processes = count_processes(f);
    char text[TEXT_SIZE];

    if (f->screen->problem) {
        print_line(f, STYLE_BAD, f->screen->problem, out);
        return;
    }
    (void)snprintf(text, sizeof text, "%zu GPU%s, %zu group%s, %zu process%s, %zu waiting, by %s%s%s", gpus,
                   plural(gpus), groups, plural(groups), processes, processes == 1 ? "" : "es",
                   gpu_count_waiting(f->groups, NULL), sorts[f->screen->sort].name,
                   f->screen->is_reversed ? ", least first" : "", f->screen->is_paused ? ", paused" : "");
    print_line(f, STYLE_BOLD, text, out);
}

/* GPUs leave the groups half of the screen at least. */
static uint32_t print_gpus(const struct gpu_frame *f, FILE *out)
{
    struct line_list lines = {0};
    uint32_t most =
        f->screen->height > 0 ? MAX(f->screen->height - MIN(f->screen->height, (uint32_t)CHROME), 2u) / 2 : 0;
    yyjson_val *gpu;
    size_t i;
    size_t count;

    yyjson_arr_foreach(f->gpus, i, count, gpu)
    {
        vec_push(&lines, (struct gpu_line){.at = gpu});
    }
    if (f->screen->height > 0)
        lines.len = MIN(lines.len, most);
    print_lines(f, gpu_columns, gpu_column_count, lines.items, lines.len, out);
    uint32_t shown = lines.len;
    vec_done(&lines);
    return shown + 1;
}

static void print_footer(const struct gpu_frame *f, uint32_t first, uint32_t shown, uint32_t all, FILE *out)
{
    char text[TEXT_SIZE] = "";
    int len = 0;

    if (shown < all)
        len = snprintf(text, sizeof text, "%u-%u of %u  ", first + 1, first + shown, all);
    (void)snprintf(text + len, sizeof text - (size_t)len, "%s",
                   f->width < WIDE ? "q quit  h help  n m c w sort  p processes"
                                   : "q quit  h help  sort by n name, m memory, c compute, w waiting  r reverse  "
                                     "p processes  space pause  arrows scroll");
    /* The last line of the screen is not ended, since that would scroll it. */
    (void)fprintf(out, "%s%.*s%s", style_start(STYLE_DIM, f->screen->has_colour), (int)f->screen->width, text,
                  style_end(STYLE_DIM, f->screen->has_colour));
}

static void print_groups(const struct gpu_frame *f, struct gpu_screen *screen, uint32_t above, FILE *out)
{
    struct line_list groups = {0};
    struct line_list lines = {0};

    sort_groups(f, &groups);
    vec_foreach (&groups, at) {
        vec_push(&lines, *at);
        if (screen->shows_processes)
            add_processes(&lines, at->at);
    }
    uint32_t room = screen->height > above ? screen->height - above : 1;
    uint32_t shown = screen->height > 0 ? MIN(lines.len, room) : lines.len;
    screen->first = MIN(screen->first, lines.len - shown);
    if (lines.len > 0)
        print_lines(f, group_columns, group_column_count, lines.items + screen->first, shown, out);
    else
        print_line(f, STYLE_PLAIN,
                   "No groups yet. Start a program with: muster gpu run --memory 20Gi --share 0.25 -- PROGRAM", out);
    if (screen->height > 0) {
        for (uint32_t i = MAX(shown, 1u) - (lines.len == 0); i < room; i++)
            (void)fputc('\n', out);
        print_footer(f, screen->first, shown, lines.len, out);
    }
    vec_done(&groups);
    vec_done(&lines);
}

static void print_help(const struct gpu_frame *f, FILE *out)
{
    static const char *const help[] = {
        "n m c w     sort by name, memory, compute or waiting time",
        "r           reverse the order",
        "p           show processes",
        "space       pause and resume",
        "arrows, page up and down, home, end: scroll",
        "h ?         show or leave this help",
        "q           quit",
        "",
        "USED (|) is memory in use, RESERVED (.) is memory kept for",
        "groups, TOTAL all memory for groups. BUSY and NOW are parts of",
        "the GPU's time in the last second, SHARE the configured part.",
    };

    for (size_t i = 0; i < ARRAY_LEN(help) && i + 1 < f->screen->height; i++)
        print_line(f, STYLE_PLAIN, help[i], out);
}

int gpu_screen_draw(struct gpu_screen *screen, const char *status, FILE *out, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = json_parse(status, strlen(status), "the daemon's answer", &doc, err);

    if (r < 0)
        return r;
    yyjson_val *root = yyjson_doc_get_root(doc);
    struct gpu_frame f = {.screen = screen,
                          .width = screen->width > 0 ? screen->width : ANY_WIDTH,
                          .gpus = yyjson_obj_get(root, "gpus"),
                          .groups = yyjson_obj_get(root, "groups")};
    double strangers = gpu_number_of(root, "unregisteredProcesses");
    uint32_t above = 0;

    f.bar = f.width < WIDE ? BAR_NARROW : GPU_BAR_MAX;
    if (screen->height > 0) {
        print_summary(&f, out);
        above++;
    }
    if (screen->shows_help && screen->height > 0) {
        print_help(&f, out);
        return 0;
    }
    above += print_gpus(&f, out);
    if (strangers > 0) {
        char text[TEXT_SIZE];

        (void)snprintf(text, sizeof text, "%.0f process%s seen on shared GPUs without being a tenant.", strangers,
                       strangers == 1 ? " was" : "es were");
        print_line(&f, STYLE_WARN, text, out);
        above++;
    }
    (void)fputc('\n', out);
    /* The empty line, the titles and the keys. */
    print_groups(&f, screen, above + 3, out);
    return 0;
}

bool gpu_screen_key(struct gpu_screen *screen, int key)
{
    for (size_t i = 0; i < ARRAY_LEN(sorts); i++) {
        if (sorts[i].key == key)
            screen->sort = (enum gpu_sort)i;
    }
    switch (key) {
    case 'q':
    case 'Q':
        return false;
    case 'h':
    case '?':
        screen->shows_help = !screen->shows_help;
        break;
    case 'r':
        screen->is_reversed = !screen->is_reversed;
        break;
    case 'p':
        screen->shows_processes = !screen->shows_processes;
        break;
    case ' ':
        screen->is_paused = !screen->is_paused;
        break;
    default:
        (void)key_scroll(key, MAX(screen->height / 2, 1u), &screen->first);
        break;
    }
    return true;
}
