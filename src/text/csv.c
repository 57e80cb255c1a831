/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Fields are cut out of the text where it lies: separators become NULs, and quoted fields are moved together over their
 * doubled quotes. Nothing is copied, so that a trace of millions of rows costs its own size.
 */
#include "text/csv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/strbuf.h"

/* How a field ended. */
enum ending { ENDS_FIELD, ENDS_ROW };

static int fail_line(const struct csv *csv, uint32_t line, struct err *err, const char *what)
{
    return err_set(err, -EINVAL, "%s:%u: %s", csv->name, line, what);
}

/* The text after `at`, over one CRLF, LF or CR. */
static char *skip_break(struct csv *csv, char *at)
{
    if (at < csv->end && *at == '\r')
        at++;
    if (at < csv->end && *at == '\n')
        at++;
    csv->next_line++;
    return at;
}

static bool is_break(const struct csv *csv, const char *at)
{
    return at == csv->end || *at == '\n' || (*at == '\r' && (at + 1 == csv->end || at[1] == '\n'));
}

/* Ends the field that stops at `at`, which is on a separator or where the row ends. */
static enum ending close_field(struct csv *csv, char *at, char *field_end)
{
    enum ending ending = ENDS_FIELD;

    if (at < csv->end && *at == csv->separator) {
        csv->at = at + 1;
    } else {
        csv->at = at < csv->end ? skip_break(csv, at) : at;
        ending = ENDS_ROW;
    }
    *field_end = '\0';
    return ending;
}

static int read_quoted(struct csv *csv, const char **ret_field, enum ending *ret_ending, struct err *err)
{
    char *to = csv->at + 1;
    char *from = csv->at + 1;

    *ret_field = to;
    for (; from < csv->end; from++) {
        if (*from == '"' && (from + 1 == csv->end || from[1] != '"'))
            break;
        from += *from == '"';
        csv->next_line += *from == '\n';
        *to++ = *from;
    }
    if (from == csv->end)
        return fail_line(csv, csv->line, err, "a quoted field is not closed");
    from++;
    if (!is_break(csv, from) && *from != csv->separator)
        return fail_line(csv, csv->next_line, err, "expected a comma after a quoted field");
    *ret_ending = close_field(csv, from, to);
    return 0;
}

static int read_field(struct csv *csv, const char **ret_field, enum ending *ret_ending, struct err *err)
{
    if (csv->separator == ',' && csv->at < csv->end && *csv->at == '"')
        return read_quoted(csv, ret_field, ret_ending, err);

    char *at = csv->at;
    *ret_field = at;
    while (!is_break(csv, at) && *at != csv->separator) {
        if (*at == '\0')
            return fail_line(csv, csv->next_line, err, "expected text, found a NUL character");
        at++;
    }
    *ret_ending = close_field(csv, at, at);
    return 0;
}

/* Reads the next row that is not empty into `fields`. Returns 1, 0 at the end, or -EINVAL. */
static int read_row(struct csv *csv, struct err *err)
{
    enum ending ending = ENDS_FIELD;

    vec_clear(&csv->fields);
    while (csv->at < csv->end && is_break(csv, csv->at))
        csv->at = skip_break(csv, csv->at);
    if (csv->at == csv->end)
        return 0;

    csv->line = csv->next_line;
    while (ending != ENDS_ROW) {
        const char *field = "";

        if (csv->fields.len == CSV_COLUMNS_MAX)
            return err_set(err, -EINVAL, "%s:%u: more than %d columns", csv->name, csv->line, CSV_COLUMNS_MAX);
        int r = read_field(csv, &field, &ending, err);
        if (r < 0)
            return r;
        vec_push(&csv->fields, field);
    }
    return 1;
}

static void skip_comments(struct csv *csv)
{
    while (csv->at < csv->end && (*csv->at == '#' || is_break(csv, csv->at))) {
        char *end = memchr(csv->at, '\n', (size_t)(csv->end - csv->at));
        csv->at = end ? end + 1 : csv->end;
        csv->next_line++;
    }
}

/* Blanks around a title are of no meaning. They are cut off where they are. */
static const char *trim(const char *title)
{
    char *from = (char *)title;  // a field lies in the text, which is ours to change
    size_t len;

    from += strspn(from, " \t");
    for (len = strlen(from); len > 0 && (from[len - 1] == ' ' || from[len - 1] == '\t'); len--)
        from[len - 1] = '\0';
    return from;
}

int csv_init(struct csv *csv, char *text, size_t len, const char *name, struct err *err)
{
    return csv_init_separated(csv, text, len, name, ',', err);
}

int csv_init_separated(struct csv *csv, char *text, size_t len, const char *name, char separator, struct err *err)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";

    *csv = (struct csv){.name = name, .separator = separator, .at = text, .end = text + len, .line = 1, .next_line = 1};
    if (len >= 3 && memcmp(text, byte_order_mark, 3) == 0)
        csv->at += 3;
    skip_comments(csv);

    int r = read_row(csv, err);
    if (r == 0)
        r = err_set(err, -EINVAL, "%s: is empty, expected a line of column titles", name);
    if (r < 0) {
        csv_done(csv);
        return r;
    }
    vec_foreach (&csv->fields, title)
        vec_push(&csv->titles, trim(*title));
    return 0;
}

void csv_done(struct csv *csv)
{
    vec_done(&csv->titles);
    vec_done(&csv->fields);
}

size_t csv_find(const struct csv *csv, const char *title)
{
    for (uint32_t i = 0; i < csv->titles.len; i++) {
        if (strcasecmp(csv->titles.items[i], title) == 0)
            return i;
    }
    return CSV_NO_COLUMN;
}

int csv_find_all(const struct csv *csv, struct csv_column *columns, size_t count, struct err *err)
{
    struct strbuf missing;
    struct strbuf there;
    int r = 0;

    strbuf_init(&missing, 200);
    strbuf_init(&there, 200);
    for (size_t i = 0; i < count; i++) {
        columns[i].index = csv_find(csv, columns[i].title);
        if (columns[i].is_required && columns[i].index == CSV_NO_COLUMN)
            strbuf_addf(&missing, "%s%s", missing.len ? ", " : "", columns[i].title);
    }
    if (missing.len) {
        for (uint32_t i = 0; i < csv->titles.len; i++)
            strbuf_addf(&there, "%s%s", i ? ", " : "", csv->titles.items[i]);
        r = err_set(err, -EINVAL, "%s:%u: missing columns: %s (found %s)", csv->name, csv->line, missing.text,
                    there.text);
    }
    strbuf_done(&missing);
    strbuf_done(&there);
    return r;
}

int csv_next(struct csv *csv, struct err *err)
{
    int r = read_row(csv, err);

    if (r > 0 && csv->fields.len != csv->titles.len)
        return err_set(err, -EINVAL, "%s:%u: expected %u fields, found %u", csv->name, csv->line, csv->titles.len,
                       csv->fields.len);
    return r;
}

const char *csv_field(const struct csv *csv, size_t column)
{
    return column < csv->fields.len ? csv->fields.items[column] : "";
}

int csv_fail(const struct csv *csv, size_t column, struct err *err, const char *format, ...)
{
    char what[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return err_set(err, -EINVAL, "%s:%u: %s: %s", csv->name, csv->line,
                   column < csv->titles.len ? csv->titles.items[column] : "?", what);
}

/* A line that starts with '#' could be taken for a comment. */
void csv_write(const char *text, FILE *out)
{
    if (!strpbrk(text, ",\"\r\n") && *text != '#') {
        (void)fputs(text, out);
        return;
    }
    (void)fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            (void)fputc('"', out);
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}
