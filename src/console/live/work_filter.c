/* SPDX-License-Identifier: Apache-2.0 */
#include "console/live/work_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

enum { TERMS_MAX = 32, VALUES_MAX = 64 };

/* What a term looks at. Columns of texts come first, by their numbers. */
enum column {
    COLUMN_NAME = _WORK_TEXT_MAX,
    COLUMN_NODE,
    COLUMN_GPUS,
    COLUMN_PODS,
    COLUMN_WAITED,
    COLUMN_RAN,
    COLUMN_AGE,
    COLUMN_ANY,  // words without a column
};

static const struct {
    const char *name;
    int column;
} columns[] = {
    {"namespace", WORK_NAMESPACE}, {"kind", WORK_KIND},   {"queue", WORK_QUEUE},   {"user", WORK_USER},
    {"owner", WORK_USER},          {"state", WORK_STATE}, {"reason", WORK_REASON}, {"name", COLUMN_NAME},
    {"node", COLUMN_NODE},         {"gpus", COLUMN_GPUS}, {"pods", COLUMN_PODS},   {"waited", COLUMN_WAITED},
    {"ran", COLUMN_RAN},           {"age", COLUMN_AGE},
};

enum comparison { LESS, LESS_OR_EQUAL, EQUAL, MORE_OR_EQUAL, MORE };

struct work_term {
    bool is_not;
    int column;
    VEC(char *) values;  // of texts: one of them
    enum comparison comparison;
    double number;  // of amounts; seconds of times
};

static void term_free(struct work_term *term)
{
    vec_foreach (&term->values, value)
        free(*value);
    vec_done(&term->values);
    free(term);
}

void work_filter_done(struct work_filter *filter)
{
    vec_foreach (&filter->terms, term)
        term_free(*term);
    vec_done(&filter->terms);
}

/* --- reading --- */

static bool is_amount(int column)
{
    return column >= COLUMN_GPUS && column <= COLUMN_AGE;
}

/* A value up to a comma or a space, or within quotes; `*at` is behind it afterwards. NULL: quotes that do not end. */
static char *read_value(const char **at, bool has_commas)
{
    bool is_quoted = **at == '"';
    const char *begin = *at + is_quoted;
    size_t len = strcspn(begin, is_quoted ? "\"" : has_commas ? " ," : " ");

    if (is_quoted && begin[len] != '"')
        return NULL;
    *at = begin + len + is_quoted;
    return xstrndup(begin, len);
}

static int read_values(const char **at, const char *me, struct work_term *term, struct err *err)
{
    bool has_commas = term->column != COLUMN_ANY;

    for (bool has_more = true; has_more;) {
        char *value = read_value(at, has_commas);

        if (!value || !*value || term->values.len == VALUES_MAX) {
            free(value);
            return err_set(err, -EINVAL, "%s",
                           value ? "expected one value, or a few with commas between them"
                                 : "a quotation mark is not closed");
        }
        if (term->column == WORK_USER && strcmp(value, "me") == 0) {
            free(value);
            value = xstrdup(me);
        }
        vec_push(&term->values, value);
        has_more = has_commas && **at == ',';
        *at += has_more;
    }
    return **at && **at != ' ' ? err_set(err, -EINVAL, "expected a space after a quotation mark") : 0;
}

static enum comparison read_comparison(const char **at)
{
    bool is_equal = (*at)[0] != '=' && (*at)[1] == '=';
    enum comparison comparison = **at == '<'   ? (is_equal ? LESS_OR_EQUAL : LESS)
                                 : **at == '>' ? (is_equal ? MORE_OR_EQUAL : MORE)
                                               : EQUAL;

    *at += 1 + is_equal;
    return comparison;
}

static int read_amount(const char **at, struct work_term *term, struct err *err)
{
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    bool is_time = term->column >= COLUMN_WAITED;
    char *end = NULL;

    term->comparison = read_comparison(at);
    if ((**at < '0' || **at > '9') && **at != '.')
        return err_set(err, -EINVAL, "expected a number");
    term->number = strtod(*at, &end);
    *at = end;
    for (size_t i = 0; is_time && i < ARRAY_LEN(units); i++) {
        if (**at == units[i].letter) {
            term->number *= units[i].seconds;
            (*at)++;
            is_time = false;
        }
    }
    return is_time || (**at && **at != ' ')
               ? err_set(err, -EINVAL, "%s", is_time ? "expected a time such as 30m or 2h" : "expected a number")
               : 0;
}

/* The column that a term begins with, and `*at` behind it, at what follows. */
static int read_column(const char **at, struct err *err)
{
    size_t len = strcspn(*at, " :<>=\"");

    if (len == 0 || (*at)[len] == '\0' || (*at)[len] == ' ' || (*at)[len] == '"')
        return COLUMN_ANY;
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        if (strlen(columns[i].name) == len && strncasecmp(columns[i].name, *at, len) == 0) {
            *at += len;
            return columns[i].column;
        }
    }
    return err_set(err, -EINVAL, "there is no column '%.*s'", (int)MIN(len, (size_t)40), *at);
}

static int read_term(const char **at, const char *me, struct work_term *term, struct err *err)
{
    term->is_not = **at == '-';
    *at += term->is_not;
    term->column = read_column(at, err);
    if (term->column < 0)
        return term->column;
    if (is_amount(term->column))
        return **at == ':' ? err_set(err, -EINVAL, "expected <, <=, =, >= or > after the column")
                           : read_amount(at, term, err);
    if (term->column != COLUMN_ANY && **at != ':')
        return err_set(err, -EINVAL, "expected a colon after the column");
    *at += term->column != COLUMN_ANY;
    return read_values(at, me, term, err);
}

int work_filter_parse(const char *text, const char *me, struct work_filter *ret_filter, struct err *err)
{
    const char *at = text + strspn(text, " ");

    *ret_filter = (struct work_filter){0};
    if (strlen(text) > WORK_FILTER_TEXT_MAX)
        return err_set(err, -EINVAL, "longer than %d bytes", WORK_FILTER_TEXT_MAX);
    for (; *at; at += strspn(at, " ")) {
        const char *begin = at;
        struct work_term *term = xcalloc(1, sizeof *term);
        int r;

        vec_push(&ret_filter->terms, term);
        r = ret_filter->terms.len > TERMS_MAX ? err_set(err, -EINVAL, "more than %d terms", TERMS_MAX)
                                              : read_term(&at, me, term, err);
        if (r < 0) {
            work_filter_done(ret_filter);
            return err_wrap(err, r, "'%.*s'", (int)MIN(strcspn(begin, " "), (size_t)40), begin);
        }
    }
    return 0;
}

/* --- looking --- */

static double amount_of(const struct work_row *row, int column, nsec_t now)
{
    switch (column) {
    case COLUMN_GPUS:
        return row->gpus;
    case COLUMN_PODS:
        return (double)row->pods;
    case COLUMN_WAITED:
        return (double)work_row_waited(row, now) / NSEC_PER_SEC;
    case COLUMN_RAN:
        return (double)work_row_ran(row, now) / NSEC_PER_SEC;
    default:
        return row->created ? (double)(now - row->created) / NSEC_PER_SEC : 0;
    }
}

static bool compares(double value, enum comparison comparison, double number)
{
    switch (comparison) {
    case LESS:
        return value < number;
    case LESS_OR_EQUAL:
        return value <= number;
    case EQUAL:
        return value >= number && value <= number;
    case MORE_OR_EQUAL:
        return value >= number;
    default:
        return value > number;
    }
}

static bool is_on(const struct work_row *row, const char *node)
{
    size_t len = strlen(node);

    for (const char *at = row->nodes; at && at[1]; at = strchr(at + 1, '/')) {
        if (strncasecmp(at + 1, node, len) == 0 && at[1 + len] == '/')
            return true;
    }
    return false;
}

static bool has_word(const struct work_index *index, const struct work_row *row, const char *word)
{
    return strcasestr(row->name, word) || strcasestr(work_row_text(index, row, WORK_NAMESPACE), word) ||
           strcasestr(work_row_text(index, row, WORK_QUEUE), word) ||
           strcasestr(work_row_text(index, row, WORK_USER), word);
}

static bool has_value(const struct work_index *index, const struct work_row *row, int column, const char *value)
{
    switch (column) {
    case COLUMN_ANY:
        return has_word(index, row, value);
    case COLUMN_NODE:
        return is_on(row, value);
    case COLUMN_NAME:
        return strcasecmp(row->name, value) == 0;
    default:
        return strcasecmp(work_row_text(index, row, (enum work_text)column), value) == 0;
    }
}

static bool term_fits(const struct work_term *term, const struct work_index *index, const struct work_row *row,
                      nsec_t now)
{
    if (is_amount(term->column))
        return compares(amount_of(row, term->column, now), term->comparison, term->number);
    vec_foreach (&term->values, value) {
        if (has_value(index, row, term->column, *value))
            return true;
    }
    return false;
}

bool work_filter_fits(const struct work_filter *filter, const struct work_index *index, const struct work_row *row,
                      nsec_t now)
{
    vec_foreach (&filter->terms, term) {
        if (term_fits(*term, index, row, now) == (*term)->is_not)
            return false;
    }
    return true;
}
