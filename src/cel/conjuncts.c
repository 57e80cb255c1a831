/* SPDX-License-Identifier: Apache-2.0 */

/* The parts of an expression that have to be true together. */
#include <string.h>

#include "cel/lexer_internal.h"

static bool is(const struct token *token, const char *sign)
{
    return token->kind == TOKEN_SIGN && token->len == strlen(sign) && memcmp(token->start, sign, token->len) == 0;
}

/* How much deeper in brackets the text behind the token is. */
static int brackets(const struct token *token)
{
    if (token->kind != TOKEN_SIGN || token->len != 1)
        return 0;
    return strchr("([{", *token->start) ? 1 : strchr(")]}", *token->start) ? -1 : 0;
}

/* Up to the end of the token before. */
static struct cel_text text_between(const char *start, const char *end)
{
    return (struct cel_text){start, (size_t)(end - start)};
}

size_t cel_conjuncts(const char *expression, struct cel_text *parts, size_t max)
{
    struct arena arena;
    struct token token = {0};
    struct token before = {0};
    size_t count = 0;
    int depth = 0;

    arena_init(&arena);
    struct lexer lexer = {.arena = &arena, .text = expression, .at = expression};
    const char *start = NULL;
    const char *end = expression;
    bool is_fine = true;
    while (is_fine) {
        is_fine = lexer_next(&lexer, &token) >= 0;
        if (!is_fine || token.kind == TOKEN_END)
            break;
        depth += brackets(&token);
        /* Both bind less tightly than &&. The question mark of a.?b does not stand alone. */
        is_fine = depth > 0 || !(is(&token, "||") || (is(&token, "?") && !is(&before, ".")));
        if (depth == 0 && is(&token, "&&")) {
            if (count + 1 < max)
                parts[count++] = text_between(start ? start : end, end);
            else
                is_fine = false;
            start = NULL;
        } else if (!start) {
            start = token.start;
        }
        end = token.start + token.len;
        before = token;
    }
    arena_done(&arena);
    if (!is_fine || count == 0)
        return 0;
    parts[count++] = text_between(start ? start : end, end);
    return count;
}
