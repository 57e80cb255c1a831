/* SPDX-License-Identifier: Apache-2.0 */

/* Reads tokens. Whatever follows a wrong token is not looked at: one error is reported. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cel/lexer_internal.h"

static int wrong(struct lexer *lexer, const char *at, const char *what)
{
    return position_error(lexer->text, (size_t)(at - lexer->text), lexer->err, "%s", what);
}

static void skip_space(struct lexer *lexer)
{
    for (;;) {
        lexer->at += strspn(lexer->at, " \t\n\r\f");
        if (strncmp(lexer->at, "//", 2) != 0)
            return;
        lexer->at += strcspn(lexer->at, "\n");
    }
}

/* --- Strings --- */

/* A literal being read; its value is never longer than it is written. */
struct quoted {
    char *bytes;
    size_t len;
    bool is_bytes;
};

static void add_byte(struct quoted *quoted, unsigned value)
{
    quoted->bytes[quoted->len++] = (char)value;
}

static void add_point(struct quoted *quoted, uint32_t point)
{
    if (point < 0x80) {
        add_byte(quoted, point);
    } else if (point < 0x800) {
        add_byte(quoted, 0xc0 | point >> 6);
        add_byte(quoted, 0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        add_byte(quoted, 0xe0 | point >> 12);
        add_byte(quoted, 0x80 | (point >> 6 & 0x3f));
        add_byte(quoted, 0x80 | (point & 0x3f));
    } else {
        add_byte(quoted, 0xf0 | point >> 18);
        add_byte(quoted, 0x80 | (point >> 12 & 0x3f));
        add_byte(quoted, 0x80 | (point >> 6 & 0x3f));
        add_byte(quoted, 0x80 | (point & 0x3f));
    }
}

/* `count` digits of a base; -1 when there are not so many. */
static int64_t read_digits(const char *at, int count, int base)
{
    int64_t value = 0;

    for (int i = 0; i < count; i++) {
        if (!isxdigit((unsigned char)at[i]))
            return -1;
        int digit = isdigit((unsigned char)at[i]) ? at[i] - '0' : tolower((unsigned char)at[i]) - 'a' + 10;
        if (digit >= base)
            return -1;
        value = value * base + digit;
    }
    return value;
}

static int read_number_escape(struct lexer *lexer, struct quoted *quoted, const char **at, int digits, int base)
{
    int64_t value = read_digits(*at, digits, base);
    bool is_point = digits > 3;

    if (value < 0 || (base == 8 && value > 0377) || (is_point && quoted->is_bytes))
        return wrong(lexer, *at, "invalid escape sequence");
    if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return wrong(lexer, *at, "invalid unicode code point");
    *at += digits;
    if (quoted->is_bytes)
        add_byte(quoted, (unsigned)value);
    else
        add_point(quoted, (uint32_t)value);
    return 0;
}

static int read_escape(struct lexer *lexer, struct quoted *quoted, const char **at)
{
    static const char letters[] = "abfnrtv\\'\"`?";
    static const char meanings[] = "\a\b\f\n\r\t\v\\'\"`?";
    const char c = **at;
    const char *known = c ? strchr(letters, c) : NULL;

    if (known) {
        add_byte(quoted, (unsigned char)meanings[known - letters]);
        (*at)++;
        return 0;
    }
    if (c >= '0' && c <= '3')
        return read_number_escape(lexer, quoted, at, 3, 8);
    if (c == 'x' || c == 'X' || c == 'u' || c == 'U') {
        (*at)++;
        return read_number_escape(lexer, quoted, at, c == 'u' ? 4 : c == 'U' ? 8 : 2, 16);
    }
    return wrong(lexer, *at, "invalid escape sequence");
}

/* Where the literal ends whose first character is at `at`; NULL when it does not. */
static const char *closing_quote(const char *at, char quote, bool is_triple, bool is_raw)
{
    for (; *at; at++) {
        if (!is_triple && (*at == '\n' || *at == '\r'))
            return NULL;
        if (*at == quote && (!is_triple || (at[1] == quote && at[2] == quote)))
            return at;
        if (*at == '\\' && !is_raw && at[1])
            at++;
    }
    return NULL;
}

/* `lexer->at` stands on the first quote. */
static int read_quoted(struct lexer *lexer, bool is_raw, bool is_bytes, struct token *token)
{
    const char quote = *lexer->at;
    const bool is_triple = lexer->at[1] == quote && lexer->at[2] == quote;
    const char *at = lexer->at + (is_triple ? 3 : 1);
    const char *end = closing_quote(at, quote, is_triple, is_raw);
    struct quoted quoted = {.is_bytes = is_bytes};

    if (!end)
        return wrong(lexer, lexer->at, "string without an end");
    quoted.bytes = arena_alloc(lexer->arena, (size_t)(end - at) + 1);
    while (at < end) {
        if (*at == '\\' && !is_raw) {
            at++;
            int r = read_escape(lexer, &quoted, &at);
            if (r < 0)
                return r;
            continue;
        }
        if (*at == '\r' && at[1] == '\n') {
            at++;
            continue;
        }
        add_byte(&quoted, (unsigned char)(*at == '\r' ? '\n' : *at));
        at++;
    }
    lexer->at = end + (is_triple ? 3 : 1);
    token->kind = TOKEN_LITERAL;
    token->literal = cel_string_of(quoted.bytes, quoted.len);
    token->literal.kind = is_bytes ? CEL_BYTES : CEL_STRING;
    return 0;
}

/* The prefixes of a string: r, b, rb and br in any case. */
static bool is_string_start(const char *at, bool *ret_is_raw, bool *ret_is_bytes, size_t *ret_len)
{
    bool is_raw = false;
    bool is_bytes = false;
    size_t len = 0;

    for (; len < 2; len++) {
        char c = (char)tolower((unsigned char)at[len]);
        if (c == 'r' && !is_raw)
            is_raw = true;
        else if (c == 'b' && !is_bytes && !is_raw)
            is_bytes = true;
        else
            break;
    }
    *ret_is_raw = is_raw;
    *ret_is_bytes = is_bytes;
    *ret_len = len;
    return at[len] == '"' || at[len] == '\'';
}

/* --- Numbers --- */

static size_t digits_len(const char *at)
{
    return strspn(at, "0123456789");
}

/* The length of an exponent at `at`; 0 when there is none. */
static size_t exponent_len(const char *at)
{
    if (*at != 'e' && *at != 'E')
        return 0;
    size_t sign = at[1] == '+' || at[1] == '-' ? 1 : 0;
    size_t digits = digits_len(at + 1 + sign);
    return digits ? 1 + sign + digits : 0;
}

static int read_double(struct lexer *lexer, size_t len, struct token *token)
{
    char *copy = arena_alloc(lexer->arena, len + 1);

    memcpy(copy, lexer->at, len);
    copy[len] = '\0';
    token->kind = TOKEN_LITERAL;
    token->is_number = true;
    token->literal.kind = CEL_DOUBLE;
    token->literal.number = strtod(copy, NULL);
    if (isinf(token->literal.number))
        return wrong(lexer, lexer->at, "invalid double literal");
    lexer->at += len;
    return 0;
}

static int read_integer(struct lexer *lexer, struct token *token)
{
    const bool is_hex =
        lexer->at[0] == '0' && (lexer->at[1] == 'x' || lexer->at[1] == 'X') && isxdigit((unsigned char)lexer->at[2]);
    const char *digits = lexer->at + (is_hex ? 2 : 0);
    char *end;

    errno = 0;
    unsigned long long value = strtoull(digits, &end, is_hex ? 16 : 10);
    if (errno)
        return wrong(lexer, lexer->at, "invalid int literal");
    token->kind = TOKEN_LITERAL;
    if (*end == 'u' || *end == 'U') {
        end++;
        token->literal.kind = CEL_UINT;
        token->literal.uinteger = value;
    } else {
        token->is_number = true;
        token->is_minimum = value == 1ULL << 63;
        if (value > INT64_MAX && !token->is_minimum)
            return wrong(lexer, lexer->at, "invalid int literal");
        token->literal = cel_int(token->is_minimum ? INT64_MIN : (int64_t)value);
    }
    lexer->at = end;
    return 0;
}

static int read_number(struct lexer *lexer, struct token *token)
{
    size_t whole = digits_len(lexer->at);
    size_t fraction = lexer->at[whole] == '.' ? digits_len(lexer->at + whole + 1) : 0;
    size_t len = whole + (fraction ? fraction + 1 : 0);
    size_t exponent = exponent_len(lexer->at + len);

    if (fraction || exponent)
        return read_double(lexer, len + exponent, token);
    return read_integer(lexer, token);
}

/* --- Tokens --- */

static void read_word(struct lexer *lexer, struct token *token)
{
    static const struct {
        const char *word;
        struct cel_value value;
    } constants[] = {
        {"true", {.kind = CEL_BOOL, .boolean = true}},
        {"false", {.kind = CEL_BOOL}},
        {"null", {.kind = CEL_NULL}},
    };

    token->kind = TOKEN_IDENT;
    token->len = strspn(lexer->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    lexer->at += token->len;
    for (size_t i = 0; i < ARRAY_LEN(constants); i++) {
        if (strlen(constants[i].word) == token->len && memcmp(constants[i].word, token->start, token->len) == 0) {
            token->kind = TOKEN_LITERAL;
            token->literal = constants[i].value;
        }
    }
    if (token->len == 2 && memcmp(token->start, "in", 2) == 0)
        token->kind = TOKEN_SIGN;
}

int lexer_next(struct lexer *lexer, struct token *ret_token)
{
    static const char *const two[] = {"&&", "||", "==", "!=", "<=", ">="};
    bool is_raw;
    bool is_bytes;
    size_t prefix;
    int r = 0;

    skip_space(lexer);
    *ret_token = (struct token){.start = lexer->at};
    if (!*lexer->at)
        return 0;
    if (is_string_start(lexer->at, &is_raw, &is_bytes, &prefix)) {
        lexer->at += prefix;
        r = read_quoted(lexer, is_raw, is_bytes, ret_token);
    } else if (isdigit((unsigned char)*lexer->at) || (*lexer->at == '.' && isdigit((unsigned char)lexer->at[1]))) {
        r = read_number(lexer, ret_token);
    } else if (isalpha((unsigned char)*lexer->at) || *lexer->at == '_') {
        read_word(lexer, ret_token);
    } else {
        size_t len = 1;
        for (size_t i = 0; i < ARRAY_LEN(two); i++)
            if (strncmp(lexer->at, two[i], 2) == 0)
                len = 2;
        if (len == 1 && !strchr("<>!-+*/%?:.,()[]{}", *lexer->at))
            return wrong(lexer, lexer->at, "token recognition error");
        ret_token->kind = TOKEN_SIGN;
        lexer->at += len;
    }
    ret_token->len = (size_t)(lexer->at - ret_token->start);
    return r;
}
