/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help/layout.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "text/wrap.h"

enum { TEXT_MAX = 8192, LEAD_MAX = 64 };

static struct table_view view_of_help(void)
{
    return (struct table_view){.width = terminal_of(stdout).width};
}

void help_line(const char *lead, const char *text)
{
    const struct table_view view = view_of_help();
    char rest[LEAD_MAX];

    (void)snprintf(rest, sizeof rest, "%*s", (int)strlen(lead), "");
    wrap_print(stdout, &view, lead, rest, STYLE_PLAIN, text);
}

void help_entry(const char *names, int column, const char *text)
{
    bool has_own_line = (int)strlen(names) + 1 >= column;
    char lead[LEAD_MAX];

    if (has_own_line)
        (void)puts(names);
    (void)snprintf(lead, sizeof lead, "%-*s", column, has_own_line ? "" : names);
    help_line(lead, text);
}

/* The column in which the text of a list's entry begins; 0 when the entry has no names. */
static int text_column(const char *line, size_t len)
{
    size_t indent = strspn(line, " ");

    for (size_t at = indent; at + 2 < len; at++) {
        if (line[at] == ' ' && line[at + 1] == ' ')
            return (int)(at + strspn(line + at, " "));
    }
    return 0;
}

static void print_listed(const char *line, size_t len)
{
    int column = text_column(line, len);
    char names[LEAD_MAX];
    struct strbuf text;

    if (column <= 0 || column >= LEAD_MAX) {
        (void)printf("%.*s\n", (int)len, line);
        return;
    }
    int end = column;

    while (line[end - 1] == ' ')
        end--;
    (void)snprintf(names, sizeof names, "%.*s", end, line);
    strbuf_init(&text, TEXT_MAX);
    strbuf_add(&text, line + column, len - (size_t)column);
    help_entry(names, column, text.text);
    strbuf_done(&text);
}

static void print_paragraph(struct strbuf *paragraph)
{
    const struct table_view view = view_of_help();

    if (paragraph->len > 0)
        wrap_print(stdout, &view, "", "", STYLE_PLAIN, paragraph->text);
    strbuf_clear(paragraph);
}

void help_paragraphs(const char *text)
{
    struct strbuf paragraph;

    if (view_of_help().width == 0) {
        (void)fputs(text, stdout);
        return;
    }
    strbuf_init(&paragraph, TEXT_MAX);
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");

        if (len == 0 || *line == ' ')
            print_paragraph(&paragraph);
        if (len == 0)
            (void)putchar('\n');
        else if (*line == ' ')
            print_listed(line, len);
        else
            strbuf_addf(&paragraph, "%s%.*s", paragraph.len > 0 ? " " : "", (int)len, line);
        line += len + (line[len] == '\n');
    }
    print_paragraph(&paragraph);
    strbuf_done(&paragraph);
}
