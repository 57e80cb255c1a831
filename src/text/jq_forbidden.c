/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What may not be in an expression, found by its words: libjq does not show how it has read them. Text in quotes is
 * passed over, but for what is put into it by \(...), which is read like the rest.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/macros.h"
#include "text/jq.h"

enum { NESTING_MAX = 256 };

/* The opening character of a bracket; '"' for text that goes on behind the bracket of \(...). */
struct scan {
    const char *at;
    const char *last;  // first character of the word or sign before; NULL: none
    char open[NESTING_MAX];
    size_t depth;
};

static const char *const comparisons[] = {"==", "!=", "<=", ">=", "?//"};
static const char *const assignments[] = {"//=", "|=", "+=", "-=", "*=", "/=", "%=", "="};
static const char *const functions[] = {"del", "range", "paths", "recurse", "walk", "repeat"};

static const char unclosed[] = "a bracket or quote that is not closed";

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *starts_with(const char *at, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return words[i];
    }
    return NULL;
}

static const char *open_bracket(struct scan *scan, char bracket)
{
    if (scan->depth == NESTING_MAX)
        return "so much within brackets";
    scan->open[scan->depth++] = bracket;
    return NULL;
}

/* Passes over text in quotes, from behind the quote to its end or into a \(...). */
static const char *scan_text(struct scan *scan)
{
    for (; *scan->at; scan->at++) {
        if (*scan->at == '"') {
            scan->at++;
            return NULL;
        }
        if (*scan->at != '\\')
            continue;
        scan->at++;
        if (*scan->at == '(') {
            scan->at++;
            return open_bracket(scan, '"');
        }
        if (!*scan->at)
            break;
    }
    return unclosed;
}

static const char *close_bracket(struct scan *scan)
{
    char bracket = *scan->at++;
    char opened = '\0';

    if (scan->depth > 0)
        opened = scan->open[--scan->depth];
    if (bracket == ')' && opened == '"')
        return scan_text(scan);
    return (bracket == ')' && opened == '(') || (bracket == ']' && opened == '[') || (bracket == '}' && opened == '{')
               ? NULL
               : unclosed;
}

/* A name, which is a function unless it is that of a field, a variable, a format or a key. */
static const char *scan_word(struct scan *scan)
{
    const char *start = scan->at;
    bool is_part = scan->last && scan->last + 1 == start && strchr(".$@", *scan->last);

    while (is_word(*scan->at))
        scan->at++;
    size_t len = (size_t)(scan->at - start);
    bool is_key = scan->depth > 0 && scan->open[scan->depth - 1] == '{' && scan->at[strspn(scan->at, " \t\r\n")] == ':';
    scan->last = start;
    for (size_t i = 0; !is_part && !is_key && i < ARRAY_LEN(functions); i++) {
        if (strlen(functions[i]) == len && strncmp(start, functions[i], len) == 0)
            return functions[i];
    }
    return NULL;
}

/* The point of a number is no descent, and its exponent no name. */
static void scan_number(struct scan *scan)
{
    scan->last = scan->at;
    while (is_word(*scan->at) || (*scan->at == '.' && isdigit((unsigned char)scan->at[1])))
        scan->at++;
}

static const char *scan_sign(struct scan *scan)
{
    const char *sign = starts_with(scan->at, comparisons, ARRAY_LEN(comparisons));

    scan->last = scan->at;
    if (sign) {
        scan->at += strlen(sign);
        return NULL;
    }
    sign = starts_with(scan->at, assignments, ARRAY_LEN(assignments));
    if (sign)
        return sign;
    if (strncmp(scan->at, "..", 2) == 0)
        return "..";
    if (strchr(")]}", *scan->at))
        return close_bracket(scan);
    if (strchr("([{", *scan->at))
        return open_bracket(scan, *scan->at++);
    scan->at++;
    return NULL;
}

const char *jq_forbidden(const char *expression)
{
    struct scan scan = {.at = expression};
    const char *found = NULL;

    while (!found && *scan.at) {
        if (*scan.at == '"') {
            scan.last = scan.at++;
            found = scan_text(&scan);
        } else if (*scan.at == '#') {
            scan.at += strcspn(scan.at, "\n");
        } else if (isspace((unsigned char)*scan.at)) {
            scan.at++;
        } else if (isdigit((unsigned char)*scan.at)) {
            scan_number(&scan);
        } else if (is_word(*scan.at)) {
            found = scan_word(&scan);
        } else {
            found = scan_sign(&scan);
        }
    }
    return found || scan.depth == 0 ? found : unclosed;
}
