/* SPDX-License-Identifier: Apache-2.0 */
#include "text/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"

enum { GAP = 2, LEAST_WIDTH = 6, WRAPPED_WIDTH = 24 };

/* Characters that take no column or two of them; the blocks that occur in names, not all of Unicode. */
static const struct {
    uint32_t first;
    uint32_t last;
    uint32_t width;
} odd_widths[] = {
    {0x0300, 0x036f, 0},   {0x1100, 0x115f, 2},   {0x200b, 0x200d, 0},   {0x2e80, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},
    {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},   {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},
    {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2},
};

/* One character of UTF-8: its bytes and columns. Bytes that are none, and controls, have `is_bad`. */
struct glyph {
    size_t bytes;
    uint32_t width;
    bool is_bad;
};

static uint32_t width_of(uint32_t code)
{
    for (size_t i = 0; i < ARRAY_LEN(odd_widths); i++) {
        if (code >= odd_widths[i].first && code <= odd_widths[i].last)
            return odd_widths[i].width;
    }
    return 1;
}

static struct glyph read_glyph(const char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const struct glyph bad = {.bytes = 1, .width = 1, .is_bad = true};
    unsigned char first = (unsigned char)*text;
    size_t bytes = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    uint32_t code = bytes == 1 ? first : first & (0xffU >> (bytes + 1));

    if (first >= 0xf8 || (first >= 0x80 && first < 0xc0))
        return bad;
    for (size_t i = 1; i < bytes; i++) {
        unsigned char next = (unsigned char)text[i];

        if ((next & 0xc0) != 0x80)
            return bad;
        code = code << 6 | (next & 0x3f);
    }
    if (code < least[bytes] || code > 0x10ffff || code < 0x20 || (code >= 0x7f && code < 0xa0))
        return bad;
    /* Marks that turn the direction of writing around can make a line read as another. */
    if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
        return bad;
    return (struct glyph){.bytes = bytes, .width = width_of(code)};
}

uint32_t table_clean(char *text)
{
    char *to = text;
    uint32_t width = 0;

    for (const char *at = text; *at;) {
        struct glyph glyph = read_glyph(at);

        if (glyph.is_bad)
            *to = *at == '\n' || *at == '\t' ? ' ' : '?';
        else
            memmove(to, at, glyph.bytes);
        to += glyph.bytes;
        at += glyph.bytes;
        width += glyph.width;
    }
    *to = '\0';
    return width;
}

void table_init(struct table *t, const struct table_column *columns, size_t column_count)
{
    BUG_ON(column_count == 0);
    *t = (struct table){.columns = columns, .column_count = column_count};
    arena_init(&t->texts);
}

void table_done(struct table *t)
{
    arena_done(&t->texts);
    vec_done(&t->cells);
}

void table_cell(struct table *t, enum text_style style, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    BUG_ON(len < 0);

    char *text = arena_alloc(&t->texts, (size_t)len + 1);
    va_start(args, format);
    (void)vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    vec_push(&t->cells, (struct table_cell){.text = text, .width = table_clean(text), .style = style});
}

uint32_t table_columns(const char *text)
{
    uint32_t width = 0;

    while (*text) {
        struct glyph glyph = read_glyph(text);

        width += glyph.width;
        text += glyph.bytes;
    }
    return width;
}

struct table_view table_view_of(FILE *out)
{
    struct terminal terminal = terminal_of(out);

    return (struct table_view){.width = terminal.width, .has_colour = terminal.has_colour};
}

static void measure(const struct table *t, uint32_t *widths)
{
    for (size_t i = 0; i < t->column_count; i++) {
        /* Titles are ours and ASCII. */
        widths[i] = (uint32_t)strlen(t->columns[i].title);
    }
    for (size_t i = 0; i < t->cells.len; i++) {
        size_t column = i % t->column_count;

        widths[column] = MAX(widths[column], t->cells.items[i].width);
    }
}

/* The column to take a character from: one that wraps, which loses nothing, as long as lines of it are readable; then the
 * widest. NULL when none can give more. */
static uint32_t *widest_column(const struct table *t, uint32_t *widths)
{
    uint32_t *widest = NULL;

    for (size_t i = 0; i < t->column_count; i++) {
        enum table_shrink shrink = t->columns[i].shrink;

        if (shrink == TABLE_WRAP && widths[i] > WRAPPED_WIDTH)
            return &widths[i];
        if (shrink != TABLE_WHOLE && widths[i] > LEAST_WIDTH && (!widest || widths[i] > *widest))
            widest = &widths[i];
    }
    return widest;
}

/* Takes from columns that may shrink, one character at a time, until the table fits or nothing is left. */
static void fit(const struct table *t, uint32_t limit, uint32_t *widths)
{
    uint64_t total = (t->column_count - 1) * GAP;

    for (size_t i = 0; i < t->column_count; i++) {
        /* A cell of a megabyte must not cost a million steps. */
        if (t->columns[i].shrink != TABLE_WHOLE)
            widths[i] = MIN(widths[i], MAX(limit, (uint32_t)LEAST_WIDTH));
        total += widths[i];
    }
    while (total > limit) {
        uint32_t *widest = widest_column(t, widths);

        if (!widest)
            return;
        (*widest)--;
        total--;
    }
}

static void print_spaces(uint32_t count, FILE *out)
{
    (void)fprintf(out, "%*s", (int)count, "");
}

/* Prints as much of the text as fits, with a "…" in the last column when it is cut. Returns the columns used. */
static uint32_t print_cut(const char *text, uint32_t width, FILE *out)
{
    uint32_t used = 0;
    const char *at = text;

    while (*at) {
        struct glyph glyph = read_glyph(at);

        if (used + glyph.width > width - 1)
            break;
        used += glyph.width;
        at += glyph.bytes;
    }
    (void)fwrite(text, 1, (size_t)(at - text), out);
    (void)fputs("…", out);
    return used + 1;
}

size_t table_line_bytes(const char *text, uint32_t width)
{
    size_t at = 0;
    size_t space = 0;
    uint32_t used = 0;

    while (text[at]) {
        struct glyph glyph = read_glyph(text + at);

        if (text[at] == ' ')
            space = at;
        if (used + glyph.width > width)
            return space ? space : MAX(at, glyph.bytes);
        used += glyph.width;
        at += glyph.bytes;
    }
    return at;
}

static void print_wrapped(const struct table_cell *cell, bool has_colour, uint32_t indent, uint32_t width, FILE *out)
{
    for (const char *at = cell->text; *at;) {
        size_t len = table_line_bytes(at, width);

        if (at > cell->text) {
            (void)fputc('\n', out);
            print_spaces(indent, out);
        }
        (void)fprintf(out, "%s%.*s%s", style_start(cell->style, has_colour), (int)len, at,
                      style_end(cell->style, has_colour));
        at += len;
        at += strspn(at, " ");
    }
}

static void print_text(const struct table_cell *cell, uint32_t width, bool has_colour, uint32_t *ret_used, FILE *out)
{
    (void)fputs(style_start(cell->style, has_colour), out);
    if (cell->width > width) {
        *ret_used = print_cut(cell->text, width, out);
    } else {
        (void)fputs(cell->text, out);
        *ret_used = cell->width;
    }
    (void)fputs(style_end(cell->style, has_colour), out);
}

static void print_cell(const struct table *t, size_t column, const struct table_cell *cell, uint32_t width,
                       bool has_colour, FILE *out)
{
    bool is_last = column + 1 == t->column_count;
    uint32_t used = 0;

    if (t->columns[column].align == TABLE_RIGHT && cell->width < width)
        print_spaces(width - cell->width, out);
    print_text(cell, width, has_colour, &used, out);
    if (is_last)
        return;
    if (t->columns[column].align == TABLE_LEFT && used < width)
        print_spaces(width - used, out);
    print_spaces(GAP, out);
}

static void print_row(const struct table *t, const struct table_cell *cells, const uint32_t *widths, bool has_colour,
                      FILE *out)
{
    size_t last = t->column_count - 1;
    const struct table_cell *end = &cells[last];
    uint32_t indent = 0;

    for (size_t i = 0; i < last; i++) {
        print_cell(t, i, &cells[i], widths[i], has_colour, out);
        indent += widths[i] + GAP;
    }
    if (t->columns[last].shrink == TABLE_WRAP && end->width > widths[last])
        print_wrapped(end, has_colour, indent, widths[last], out);
    else
        print_cell(t, last, end, widths[last], has_colour, out);
}

void table_print(const struct table *t, const struct table_view *view, FILE *out)
{
    _cleanup_(freep) uint32_t *widths = xcalloc(t->column_count, sizeof *widths);

    BUG_ON(t->column_count == 0);
    measure(t, widths);
    if (view->width)
        fit(t, view->width, widths);

    for (size_t i = 0; i < t->column_count; i++) {
        const struct table_cell title = {
            .text = t->columns[i].title, .width = (uint32_t)strlen(t->columns[i].title), .style = STYLE_DIM};

        print_cell(t, i, &title, widths[i], view->has_colour, out);
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i + t->column_count <= t->cells.len; i += t->column_count) {
        print_row(t, &t->cells.items[i], widths, view->has_colour, out);
        (void)fputc('\n', out);
    }
}
