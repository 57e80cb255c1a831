/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Tokens of CEL. Literals carry their value. */

#include "cel/core.h"

enum token_kind { TOKEN_END, TOKEN_IDENT, TOKEN_LITERAL, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    const char *start;
    size_t len;
    struct cel_value literal;
    bool is_number;   // a literal that a minus can go into
    bool is_minimum;  // 9223372036854775808, which is only right behind a minus
};

struct lexer {
    struct arena *arena;
    const char *text;
    const char *at;
    struct err *err;
};

MUST_CHECK int lexer_next(struct lexer *lexer, struct token *ret_token);
