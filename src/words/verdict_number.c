/* SPDX-License-Identifier: Apache-2.0 */

/* Numbers in KAI's texts. They come from two Go libraries with rules of their own, which tools have learned to read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "model/queue.h"
#include "words/verdict_text_internal.h"

enum { NUMBER_MAX = 400 };  // more than the longest double without an exponent

void add_decimals(struct strbuf *out, double value)
{
    char text[NUMBER_MAX];
    int len = snprintf(text, sizeof text, "%.6f", value);

    len -= 3;
    while (len > 0 && text[len - 1] == '0')
        len--;
    if (len > 0 && text[len - 1] == '.')
        len--;
    strbuf_add(out, text, (size_t)len);
}

void add_human(struct strbuf *out, double value, double unit)
{
    if (value == UNLIMITED)
        strbuf_addstr(out, "Unlimited");
    else
        add_decimals(out, value / unit);
}

void add_short(struct strbuf *out, double value)
{
    strbuf_addf(out, "%.3g", value);
}

/* The fewest digits that read as the same number, without an exponent between 1e-4 and 1e21. */
void add_exact(struct strbuf *out, double value)
{
    char text[NUMBER_MAX];
    int digits = 1;

    for (; digits < 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*e", digits - 1, value);
        if (strtod(text, NULL) == value)
            break;
    }
    (void)snprintf(text, sizeof text, "%.*e", digits - 1, value);
    long exponent = strtol(strchr(text, 'e') + 1, NULL, 10);
    if (value != 0 && (exponent < -4 || exponent >= 21))
        strbuf_addstr(out, text);
    else
        strbuf_addf(out, "%.*f", digits - 1 > exponent ? (int)(digits - 1 - exponent) : 0, value);
}

void lines_add(struct lines *lines, const char *text)
{
    enum { LINES_MAX = 256 };  // what a text of this length says no more: nobody reads it, and Kubernetes cuts it

    vec_foreach (lines, line) {
        if (strcmp(line->text, text) == 0) {
            line->count++;
            return;
        }
    }
    if (lines->len < LINES_MAX)
        vec_push(lines, (struct line){xstrdup(text), 1});
}

void lines_done(struct lines *lines)
{
    vec_foreach (lines, line)
        free(line->text);
    vec_done(lines);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

void lines_sort(struct lines *lines)
{
    if (lines->len > 0)
        qsort(lines->items, lines->len, sizeof *lines->items, compare_lines);
}

void lines_number(struct lines *lines, bool counts_one)
{
    vec_foreach (lines, line) {
        struct strbuf numbered;

        if (line->count == 1 && !counts_one)
            continue;
        strbuf_init(&numbered, strlen(line->text) + 16);
        strbuf_addf(&numbered, "%u %s", line->count, line->text);
        free(line->text);
        line->text = strbuf_take(&numbered);
        strbuf_done(&numbered);
    }
}
