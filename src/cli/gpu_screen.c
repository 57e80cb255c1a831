/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Columns are rows of tables: each says from which width on it is shown, so that a small terminal has the few that matter
 * most. A frame is made as lines of text, of which as many are printed as fit.
 */
#include "cli/gpu_screen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "text/json.h"
#include "text/table.h"

enum { BAR_MAX = 20, BAR_NARROW = 8, WIDE = 100, COLUMNS_MAX = 16, NAMES_SIZE = 256, ANY_WIDTH = 200, CHROME = 5 };

#define GIB ((double)(1 << 30))

struct frame {
    const struct gpu_screen *screen;
    uint32_t width;
    uint32_t bar;
    yyjson_val *gpus;
    yyjson_val *groups;
};

static double number(yyjson_val *at, const char *key)
{
    return yyjson_get_num(yyjson_obj_get(at, key));
}

static const char *text_of(yyjson_val *at, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(at, key));

    return text ? text : "";
}

static bool is_state(yyjson_val *group, const char *state)
{
    return strcmp(text_of(group, "state"), state) == 0;
}

/* In the mode `time` nobody measures who has the GPU. */
static bool is_measured(yyjson_val *group)
{
    return strcmp(text_of(group, "mode"), "time") != 0;
}

static bool is_waiting(yyjson_val *group)
{
    return is_state(group, "waiting") || number(group, "wantedBytes") > 0;
}

static double memory_of(yyjson_val *at)
{
    return number(at, "usedBytes") + number(at, "contextBytes");
}

static double part_of(double amount, double whole)
{
    return whole > 0 ? amount / whole : 0;
}

static enum table_style style_of(double part)
{
    return part > 0.95 ? TABLE_BAD : part > 0.8 ? TABLE_WARN : TABLE_GOOD;
}

/* What is used, and behind it what is kept for somebody. */
static void add_bar(struct table *t, const struct frame *f, enum table_style style, double part, double kept)
{
    char text[BAR_MAX + 3];
    size_t full = (size_t)(CLAMP(part, 0.0, 1.0) * f->bar + 0.5);
    size_t more = MAX((size_t)(CLAMP(kept, 0.0, 1.0) * f->bar + 0.5), full);

    text[0] = '[';
    memset(text + 1, '|', full);
    memset(text + 1 + full, '.', more - full);
    memset(text + 1 + more, ' ', f->bar - more);
    text[f->bar + 1] = ']';
    text[f->bar + 2] = '\0';
    table_cell(t, style, "%s", text);
}

static void add_gib(struct table *t, enum table_style style, double bytes)
{
    table_cell(t, style, "%.1f Gi", bytes / GIB);
}

static void add_percent(struct table *t, bool is_known, double part)
{
    if (is_known)
        table_cell(t, TABLE_PLAIN, "%.1f %%", 100 * part);
    else
        table_cell(t, TABLE_DIM, "-");
}

/* The number that `muster gpu run --gpu` takes. */
static size_t index_of(const struct frame *f, const char *uuid)
{
    yyjson_val *gpu;
    size_t i;
    size_t count;

    yyjson_arr_foreach(f->gpus, i, count, gpu)
    {
        if (strcmp(text_of(gpu, "uuid"), uuid) == 0)
            return i;
    }
    return count;
}

static bool is_on(yyjson_val *group, yyjson_val *gpu)
{
    return strcmp(text_of(group, "gpu"), text_of(gpu, "uuid")) == 0;
}

/* What the groups of a GPU have of its time together; negative where one of them is not measured. */
static double busy_of(const struct frame *f, yyjson_val *gpu)
{
    double sum = 0;
    yyjson_val *group;
    size_t i;
    size_t count;

    yyjson_arr_foreach(f->groups, i, count, group)
    {
        if (!is_on(group, gpu))
            continue;
        if (!is_measured(group))
            return -1;
        sum += number(group, "shareActual");
    }
    return MIN(sum, 1.0);
}

static size_t count_waiting(const struct frame *f, yyjson_val *gpu)
{
    size_t found = 0;
    yyjson_val *group;
    size_t i;
    size_t count;

    yyjson_arr_foreach(f->groups, i, count, group)
    {
        found += (!gpu || is_on(group, gpu)) && is_waiting(group);
    }
    return found;
}

/* One line of a table: a GPU, a group, or a process with its group. */
struct line {
    yyjson_val *at;
    yyjson_val *process;
    double key;
};

struct column {
    struct table_column head;
    uint32_t from;  // the least width of the terminal
    void (*add)(struct table *t, const struct frame *f, const struct line *line);
};

static void gpu_number(struct table *t, const struct frame *f, const struct line *line)
{
    table_cell(t, TABLE_PLAIN, "%zu", index_of(f, text_of(line->at, "uuid")));
}

static void gpu_uuid(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    table_cell(t, TABLE_DIM, "%s", text_of(line->at, "uuid"));
}

static void gpu_name(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    table_cell(t, TABLE_DIM, "%s", text_of(line->at, "name"));
}

static void gpu_memory(struct table *t, const struct frame *f, const struct line *line)
{
    double part = part_of(number(line->at, "takenBytes"), number(line->at, "capacityBytes"));

    add_bar(t, f, style_of(part), part, part_of(number(line->at, "requestedBytes"), number(line->at, "capacityBytes")));
}

static void gpu_used(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    add_gib(t, TABLE_PLAIN, number(line->at, "takenBytes"));
}

static void gpu_promised(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    add_gib(t, TABLE_PLAIN, number(line->at, "requestedBytes"));
}

static void gpu_capacity(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    add_gib(t, TABLE_PLAIN, number(line->at, "capacityBytes"));
}

/* What the driver says, strangers and its own needs included. */
static void gpu_driver(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    if (yyjson_obj_get(line->at, "driverUsedBytes"))
        add_gib(t, TABLE_PLAIN, number(line->at, "driverUsedBytes"));
    else
        table_cell(t, TABLE_DIM, "-");
}

static void gpu_compute(struct table *t, const struct frame *f, const struct line *line)
{
    add_bar(t, f, TABLE_GOOD, busy_of(f, line->at), 0);
}

static void gpu_busy(struct table *t, const struct frame *f, const struct line *line)
{
    double busy = busy_of(f, line->at);

    add_percent(t, busy >= 0, busy);
}

static void gpu_holds(struct table *t, const struct frame *f, const struct line *line)
{
    char names[NAMES_SIZE] = "";
    size_t len = 0;
    yyjson_val *group;
    size_t i;
    size_t count;

    yyjson_arr_foreach(f->groups, i, count, group)
    {
        bool holds = is_state(group, "running") || is_state(group, "draining") || is_state(group, "stuck");

        if (holds && is_on(group, line->at) && len < sizeof names)
            len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", len ? ", " : "", text_of(group, "group"));
    }
    table_cell(t, len ? TABLE_PLAIN : TABLE_DIM, "%s", len ? names : "-");
}

static void gpu_waits(struct table *t, const struct frame *f, const struct line *line)
{
    size_t count = count_waiting(f, line->at);

    table_cell(t, count ? TABLE_WARN : TABLE_DIM, "%zu", count);
}

static const struct column gpu_columns[] = {
    {{"GPU", TABLE_RIGHT, TABLE_WHOLE}, 0, gpu_number},
    {{"NAME", TABLE_LEFT, TABLE_CUT}, 100, gpu_name},
    {{"UUID", TABLE_LEFT, TABLE_CUT}, 180, gpu_uuid},
    {{"MEMORY", TABLE_LEFT, TABLE_WHOLE}, 0, gpu_memory},
    {{"USED", TABLE_RIGHT, TABLE_WHOLE}, 0, gpu_used},
    {{"PROMISED", TABLE_RIGHT, TABLE_WHOLE}, 80, gpu_promised},
    {{"TO GIVE", TABLE_RIGHT, TABLE_WHOLE}, 0, gpu_capacity},
    {{"DRIVER", TABLE_RIGHT, TABLE_WHOLE}, 140, gpu_driver},
    {{"COMPUTE", TABLE_LEFT, TABLE_WHOLE}, 120, gpu_compute},
    {{"BUSY", TABLE_RIGHT, TABLE_WHOLE}, 0, gpu_busy},
    {{"WAIT", TABLE_RIGHT, TABLE_WHOLE}, 80, gpu_waits},
    {{"HOLDS", TABLE_LEFT, TABLE_CUT}, 0, gpu_holds},
};

static void group_name(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    if (line->process)
        table_cell(t, TABLE_DIM, "  %.0f %s", number(line->process, "pid"), text_of(line->process, "name"));
    else
        table_cell(t, TABLE_PLAIN, "%s", text_of(line->at, "group"));
}

static void group_gpu(struct table *t, const struct frame *f, const struct line *line)
{
    if (line->process)
        table_cell(t, TABLE_PLAIN, "%s", "");
    else
        table_cell(t, TABLE_PLAIN, "%zu", index_of(f, text_of(line->at, "gpu")));
}

static void group_mode(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    table_cell(t, TABLE_PLAIN, "%s", line->process ? "" : text_of(line->at, "mode"));
}

/* Who waits for memory says so in place of what it does with the GPU's time; a process that cannot be talked to is away. */
static void group_state(struct table *t, const struct frame *f, const struct line *line)
{
    yyjson_val *at = line->process ? line->process : line->at;

    (void)f;
    if (number(at, "wantedBytes") > 0)
        table_cell(t, TABLE_WARN, "wants mem");
    else if (line->process)
        table_cell(t, TABLE_WARN, "%s", yyjson_is_false(yyjson_obj_get(at, "connected")) ? "away" : "");
    else
        table_cell(t,
                   is_state(at, "stuck")     ? TABLE_BAD
                   : is_state(at, "waiting") ? TABLE_WARN
                   : is_state(at, "running") ? TABLE_GOOD
                                             : TABLE_PLAIN,
                   "%s", text_of(at, "state"));
}

static void group_share(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    if (line->process)
        table_cell(t, TABLE_PLAIN, "%s", "");
    else
        add_percent(t, is_measured(line->at), number(line->at, "share"));
}

static void group_now(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    if (line->process)
        table_cell(t, TABLE_PLAIN, "%s", "");
    else
        add_percent(t, is_measured(line->at), number(line->at, "shareActual"));
}

static void group_compute(struct table *t, const struct frame *f, const struct line *line)
{
    if (line->process)
        table_cell(t, TABLE_PLAIN, "%s", "");
    else
        add_bar(t, f, TABLE_GOOD, number(line->at, "shareActual"),
                is_measured(line->at) ? number(line->at, "share") : 0);
}

static void group_memory(struct table *t, const struct frame *f, const struct line *line)
{
    double part = part_of(memory_of(line->process ? line->process : line->at), number(line->at, "limitBytes"));

    add_bar(t, f, line->process ? TABLE_DIM : style_of(part), part, 0);
}

static void group_used(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    add_gib(t, line->process ? TABLE_DIM : TABLE_PLAIN, memory_of(line->process ? line->process : line->at));
}

static void group_amount(struct table *t, const struct line *line, const char *key)
{
    if (line->process)
        table_cell(t, TABLE_PLAIN, "%s", "");
    else
        add_gib(t, TABLE_PLAIN, number(line->at, key));
}

static void group_request(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    group_amount(t, line, "requestBytes");
}

static void group_limit(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    group_amount(t, line, "limitBytes");
}

static void group_processes(struct table *t, const struct frame *f, const struct line *line)
{
    (void)f;
    if (line->process)
        table_cell(t, TABLE_PLAIN, "%s", "");
    else
        table_cell(t, TABLE_PLAIN, "%zu", yyjson_arr_size(yyjson_obj_get(line->at, "processes")));
}

static void group_refused(struct table *t, const struct frame *f, const struct line *line)
{
    double denied = number(line->at, "denied");

    (void)f;
    if (line->process)
        table_cell(t, TABLE_PLAIN, "%s", "");
    else
        table_cell(t, denied > 0 ? TABLE_WARN : TABLE_DIM, "%.0f", denied);
}

static const struct column group_columns[] = {
    {{"GROUP", TABLE_LEFT, TABLE_CUT}, 0, group_name},
    {{"GPU", TABLE_RIGHT, TABLE_WHOLE}, 0, group_gpu},
    {{"MODE", TABLE_LEFT, TABLE_WHOLE}, 90, group_mode},
    {{"STATE", TABLE_LEFT, TABLE_WHOLE}, 0, group_state},
    {{"SHARE", TABLE_RIGHT, TABLE_WHOLE}, 80, group_share},
    {{"NOW", TABLE_RIGHT, TABLE_WHOLE}, 0, group_now},
    {{"COMPUTE", TABLE_LEFT, TABLE_WHOLE}, 140, group_compute},
    {{"MEMORY", TABLE_LEFT, TABLE_WHOLE}, 0, group_memory},
    {{"USED", TABLE_RIGHT, TABLE_WHOLE}, 0, group_used},
    {{"REQUEST", TABLE_RIGHT, TABLE_WHOLE}, 120, group_request},
    {{"LIMIT", TABLE_RIGHT, TABLE_WHOLE}, 72, group_limit},
    {{"PROCS", TABLE_RIGHT, TABLE_WHOLE}, 100, group_processes},
    {{"REFUSED", TABLE_RIGHT, TABLE_WHOLE}, 110, group_refused},
};
_Static_assert(ARRAY_LEN(gpu_columns) <= COLUMNS_MAX && ARRAY_LEN(group_columns) <= COLUMNS_MAX, "columns have room");

struct line_list VEC_OF(struct line);

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
        return memory_of(group);
    case GPU_SORT_COMPUTE:
        return number(group, "shareActual");
    case GPU_SORT_WAITING:
        return is_waiting(group) ? 1 : 0;
    case GPU_SORT_NAME:
    case GPU_SORT_COUNT_:
        break;
    }
    return 0;
}

static int compare_lines(const void *left, const void *right)
{
    const struct line *a = left;
    const struct line *b = right;

    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    int r = strcmp(text_of(a->at, "group"), text_of(b->at, "group"));
    return r != 0 ? r : strcmp(text_of(a->at, "gpu"), text_of(b->at, "gpu"));
}

static void sort_groups(const struct frame *f, struct line_list *to)
{
    yyjson_val *group;
    size_t i;
    size_t count;

    yyjson_arr_foreach(f->groups, i, count, group)
    {
        vec_push(to, (struct line){.at = group, .key = key_of(f->screen->sort, group)});
    }
    if (to->len > 0)
        qsort(to->items, to->len, sizeof *to->items, compare_lines);
    for (uint32_t low = 0; f->screen->is_reversed && low < to->len / 2; low++) {
        struct line kept = to->items[low];

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
        vec_push(to, (struct line){.at = group, .process = process});
    }
}

/* Prints the titles, and `count` lines from the given one on. */
static void print_lines(const struct frame *f, const struct column *columns, size_t column_count,
                        const struct line *lines, uint32_t count, FILE *out)
{
    struct table_view view = {.width = f->screen->width, .has_colour = f->screen->has_colour};
    struct table_column heads[COLUMNS_MAX];
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

static size_t count_processes(const struct frame *f)
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
static void print_line(const struct frame *f, const char *colour, const char *text, FILE *out)
{
    bool has_colour = f->screen->has_colour && *colour;
    int width = f->screen->width > 0 ? (int)f->screen->width : (int)strlen(text);

    (void)fprintf(out, "%s%.*s%s\n", has_colour ? colour : "", width, text, has_colour ? "\033[0m" : "");
}

static void print_summary(const struct frame *f, FILE *out)
{
    size_t gpus = yyjson_arr_size(f->gpus);
    size_t groups = yyjson_arr_size(f->groups);
    size_t processes = count_processes(f);
    char text[NAMES_SIZE];

    if (f->screen->problem) {
        print_line(f, "\033[31m", f->screen->problem, out);
        return;
    }
    (void)snprintf(text, sizeof text, "%zu GPU%s, %zu group%s, %zu process%s, %zu waiting, by %s%s%s", gpus,
                   plural(gpus), groups, plural(groups), processes, processes == 1 ? "" : "es", count_waiting(f, NULL),
                   sorts[f->screen->sort].name, f->screen->is_reversed ? ", least first" : "",
                   f->screen->is_paused ? ", paused" : "");
    print_line(f, "\033[1m", text, out);
}

/* GPUs leave the groups half of the screen at least. */
static uint32_t print_gpus(const struct frame *f, FILE *out)
{
    struct line_list lines = {0};
    uint32_t most =
        f->screen->height > 0 ? MAX(f->screen->height - MIN(f->screen->height, (uint32_t)CHROME), 2u) / 2 : 0;
    yyjson_val *gpu;
    size_t i;
    size_t count;

    yyjson_arr_foreach(f->gpus, i, count, gpu)
    {
        vec_push(&lines, (struct line){.at = gpu});
    }
    if (f->screen->height > 0)
        lines.len = MIN(lines.len, most);
    print_lines(f, gpu_columns, ARRAY_LEN(gpu_columns), lines.items, lines.len, out);
    uint32_t shown = lines.len;
    vec_done(&lines);
    return shown + 1;
}

static void print_footer(const struct frame *f, uint32_t first, uint32_t shown, uint32_t all, FILE *out)
{
    char text[NAMES_SIZE] = "";
    int len = 0;

    if (shown < all)
        len = snprintf(text, sizeof text, "%u-%u of %u  ", first + 1, first + shown, all);
    (void)snprintf(text + len, sizeof text - (size_t)len, "%s",
                   f->width < WIDE ? "q quit  h help  n m c w sort  p processes"
                                   : "q quit  h help  sort by n name, m memory, c compute, w waiting  r reverse  "
                                     "p processes  space pause  arrows scroll");
    /* The last line of the screen is not ended, since that would scroll it. */
    (void)fprintf(out, "%s%.*s%s", f->screen->has_colour ? "\033[2m" : "", (int)f->screen->width, text,
                  f->screen->has_colour ? "\033[0m" : "");
}

static void print_groups(const struct frame *f, struct gpu_screen *screen, uint32_t above, FILE *out)
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
        print_lines(f, group_columns, ARRAY_LEN(group_columns), lines.items + screen->first, shown, out);
    else
        print_line(f, "", "No groups yet. One is made by: muster gpu run --memory 20Gi --share 0.25 -- PROGRAM", out);
    if (screen->height > 0) {
        for (uint32_t i = MAX(shown, 1u) - (lines.len == 0); i < room; i++)
            (void)fputc('\n', out);
        print_footer(f, screen->first, shown, lines.len, out);
    }
    vec_done(&groups);
    vec_done(&lines);
}

static void print_help(const struct frame *f, FILE *out)
{
    static const char *const help[] = {
        "n m c w     sort by name, memory, compute, or who waits",
        "r           the other way around",
        "p           show processes",
        "space       stop and go on",
        "arrows, page up and down, home, end: scroll",
        "h ?         this, and back",
        "q           quit",
        "",
        "USED is memory that is given away (|), PROMISED what is kept",
        "for groups (.), TO GIVE all there is. BUSY and NOW are parts",
        "of the GPU's time in the last second, SHARE what is promised.",
    };

    for (size_t i = 0; i < ARRAY_LEN(help) && i + 1 < f->screen->height; i++)
        print_line(f, "", help[i], out);
}

int gpu_screen_draw(struct gpu_screen *screen, const char *status, FILE *out, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = json_parse(status, strlen(status), "the daemon's answer", &doc, err);

    if (r < 0)
        return r;
    yyjson_val *root = yyjson_doc_get_root(doc);
    struct frame f = {.screen = screen,
                      .width = screen->width > 0 ? screen->width : ANY_WIDTH,
                      .gpus = yyjson_obj_get(root, "gpus"),
                      .groups = yyjson_obj_get(root, "groups")};
    double strangers = number(root, "unregisteredProcesses");
    uint32_t above = 0;

    f.bar = f.width < WIDE ? BAR_NARROW : BAR_MAX;
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
        char text[NAMES_SIZE];

        (void)snprintf(text, sizeof text, "%.0f process%s seen on shared GPUs without being a tenant.", strangers,
                       strangers == 1 ? " was" : "es were");
        print_line(&f, "\033[33m", text, out);
        above++;
    }
    (void)fputc('\n', out);
    /* The empty line, the titles and the keys. */
    print_groups(&f, screen, above + 3, out);
    return 0;
}

bool gpu_screen_key(struct gpu_screen *screen, int key)
{
    uint32_t page = MAX(screen->height / 2, 1u);

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
    case 'k':
    case GPU_KEY_UP:
        screen->first -= MIN(screen->first, 1u);
        break;
    case 'j':
    case GPU_KEY_DOWN:
        screen->first++;
        break;
    case GPU_KEY_PAGE_UP:
        screen->first -= MIN(screen->first, page);
        break;
    case GPU_KEY_PAGE_DOWN:
        screen->first += page;
        break;
    case GPU_KEY_HOME:
        screen->first = 0;
        break;
    case GPU_KEY_END:
        screen->first = UINT32_MAX / 2;
        break;
    default:
        break;
    }
    return true;
}

int gpu_key_read(const char *bytes, size_t len, size_t *ret_len)
{
    static const struct {
        const char *bytes;
        int key;
    } known[] = {
        {"\033[A", GPU_KEY_UP},   {"\033OA", GPU_KEY_UP},       {"\033[B", GPU_KEY_DOWN},
        {"\033OB", GPU_KEY_DOWN}, {"\033[5~", GPU_KEY_PAGE_UP}, {"\033[6~", GPU_KEY_PAGE_DOWN},
        {"\033[H", GPU_KEY_HOME}, {"\033OH", GPU_KEY_HOME},     {"\033[1~", GPU_KEY_HOME},
        {"\033[F", GPU_KEY_END},  {"\033OF", GPU_KEY_END},      {"\033[4~", GPU_KEY_END},
    };

    *ret_len = 1;
    if (bytes[0] != '\033')
        return (unsigned char)bytes[0];
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        size_t size = strlen(known[i].bytes);

        if (len >= size && memcmp(bytes, known[i].bytes, size) == 0) {
            *ret_len = size;
            return known[i].key;
        }
    }
    /* A key that nobody knows: all of it is passed over, or its rest would be taken for letters. */
    if (len > 1 && (bytes[1] == '[' || bytes[1] == 'O')) {
        size_t at = 2;

        while (at < len && !(bytes[at] >= '@' && bytes[at] <= '~'))
            at++;
        *ret_len = MIN(at + 1, len);
    }
    return -1;
}
