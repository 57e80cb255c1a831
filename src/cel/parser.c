/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A parser by recursive descent. Macros are expanded where they are called, so that later steps know folds and nothing of
 * all() or map(). Every expression has an id, which the costs of an evaluation are counted by.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cel/lexer_internal.h"
#include "cel/macros_internal.h"

struct parser {
    struct lexer lexer;
    struct token token;
    struct tree tree;
    int depth;
};

int position_error(const char *text, size_t position, struct err *err, const char *format, ...)
{
    char what[400];
    size_t line = 1;
    size_t column = 1;
    va_list args;

    for (size_t i = 0; i < position && text[i]; i++) {
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
    }
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return err_set(err, -EINVAL, "%zu:%zu: %s", line, column, what);
}

static int parse_expr(struct parser *parser, struct expr **ret_expr);

static int wrong(struct parser *parser, const char *what)
{
    return position_error(parser->lexer.text, (size_t)(parser->token.start - parser->lexer.text), parser->lexer.err,
                          "%s", what);
}

static int unexpected(struct parser *parser)
{
    if (parser->token.kind == TOKEN_END)
        return wrong(parser, "syntax error: unexpected end of the expression");
    return position_error(parser->lexer.text, (size_t)(parser->token.start - parser->lexer.text), parser->lexer.err,
                          "syntax error: unexpected '%.*s'", (int)MIN(parser->token.len, (size_t)40),
                          parser->token.start);
}

static int advance(struct parser *parser)
{
    return lexer_next(&parser->lexer, &parser->token);
}

static bool is_sign(const struct parser *parser, const char *sign)
{
    return parser->token.kind == TOKEN_SIGN && parser->token.len == strlen(sign) &&
           memcmp(parser->token.start, sign, parser->token.len) == 0;
}

static int expect(struct parser *parser, const char *sign)
{
    return is_sign(parser, sign) ? advance(parser) : unexpected(parser);
}

static struct expr *new_expr(struct parser *parser, enum expr_kind kind)
{
    return tree_expr(&parser->tree, kind, (size_t)(parser->token.start - parser->lexer.text));
}

static const char *token_text(struct parser *parser)
{
    char *text = arena_calloc(parser->tree.arena, parser->token.len + 1, 1);

    memcpy(text, parser->token.start, parser->token.len);
    return text;
}

static bool is_reserved(const char *name)
{
    static const char *const words[] = {"as",        "break",  "const",  "continue", "else", "for",
                                        "function",  "if",     "import", "let",      "loop", "package",
                                        "namespace", "return", "var",    "void",     "while"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

/* Expressions up to a closing sign; where they `can_be_optional`, a comma may stand before it too. */
static int parse_list(struct parser *parser, const char *close, bool can_be_optional, struct expr *into)
{
    VEC(struct expr *) items = {0};
    VEC(bool) optionals = {0};
    int r = 0;

    while (!is_sign(parser, close)) {
        bool is_optional = can_be_optional && is_sign(parser, "?");
        struct expr *item;
        r = is_optional ? advance(parser) : 0;
        r = r < 0 ? r : parse_expr(parser, &item);
        if (r < 0)
            break;
        vec_push(&items, item);
        vec_push(&optionals, is_optional);
        if (is_sign(parser, close))
            break;
        r = expect(parser, ",");
        if (r == 0 && !can_be_optional && is_sign(parser, close))
            r = unexpected(parser);
        if (r < 0)
            break;
    }
    if (r == 0) {
        into->arg_count = items.len;
        into->args = arena_calloc(parser->tree.arena, MAX(items.len, 1U), sizeof *into->args);
        into->is_optional = arena_calloc(parser->tree.arena, MAX(items.len, 1U), sizeof *into->is_optional);
        for (uint32_t i = 0; i < items.len; i++) {
            into->args[i] = items.items[i];
            into->is_optional[i] = optionals.items[i];
        }
        r = expect(parser, close);
    }
    vec_done(&items);
    vec_done(&optionals);
    return r;
}

static int parse_map(struct parser *parser, struct expr **ret_expr)
{
    struct expr *map = new_expr(parser, EXPR_MAP);
    VEC(struct expr *) parts = {0};
    VEC(bool) optionals = {0};
    int r = advance(parser);

    while (r == 0 && !is_sign(parser, "}")) {
        struct expr *key;
        struct expr *value;
        bool is_optional = is_sign(parser, "?");
        r = is_optional ? advance(parser) : 0;
        r = r < 0 ? r : parse_expr(parser, &key);
        r = r < 0 ? r : expect(parser, ":");
        r = r < 0 ? r : parse_expr(parser, &value);
        if (r < 0)
            break;
        vec_push(&parts, key);
        vec_push(&parts, value);
        vec_push(&optionals, is_optional);
        if (is_sign(parser, "}"))
            break;
        r = expect(parser, ",");
    }
    if (r == 0) {
        map->arg_count = parts.len;
        map->args = arena_calloc(parser->tree.arena, MAX(parts.len, 1U), sizeof *map->args);
        map->is_optional = arena_calloc(parser->tree.arena, MAX(optionals.len, 1U), sizeof *map->is_optional);
        for (uint32_t i = 0; i < parts.len; i++)
            map->args[i] = parts.items[i];
        for (uint32_t i = 0; i < optionals.len; i++)
            map->is_optional[i] = optionals.items[i];
        r = expect(parser, "}");
    }
    vec_done(&parts);
    vec_done(&optionals);
    *ret_expr = map;
    return r;
}

/* The arguments of a call, whose name and target are set; what a macro makes of it takes its place. */
static int parse_call(struct parser *parser, struct expr *call, struct expr **ret_expr)
{
    int r = advance(parser);

    r = r < 0 ? r : parse_list(parser, ")", false, call);
    if (r < 0)
        return r;
    *ret_expr = call;
    return expand_macro(&parser->tree, call, ret_expr);
}

static int parse_name(struct parser *parser, struct expr **ret_expr)
{
    const bool is_global = is_sign(parser, ".");
    int r = is_global ? advance(parser) : 0;

    if (r < 0)
        return r;
    if (parser->token.kind != TOKEN_IDENT)
        return unexpected(parser);
    struct expr *expr = new_expr(parser, EXPR_IDENT);
    expr->name = token_text(parser);
    expr->is_global = is_global;
    if (is_reserved(expr->name))
        return wrong(parser, "reserved identifier");
    r = advance(parser);
    *ret_expr = expr;
    if (r < 0 || !is_sign(parser, "("))
        return r;
    expr->kind = EXPR_CALL;
    return parse_call(parser, expr, ret_expr);
}

static int parse_primary(struct parser *parser, struct expr **ret_expr)
{
    int r;

    if (parser->token.kind == TOKEN_LITERAL) {
        if (parser->token.is_minimum)
            return wrong(parser, "invalid int literal");
        *ret_expr = new_expr(parser, EXPR_LITERAL);
        (*ret_expr)->literal = parser->token.literal;
        return advance(parser);
    }
    if (is_sign(parser, "(")) {
        r = advance(parser);
        r = r < 0 ? r : parse_expr(parser, ret_expr);
        return r < 0 ? r : expect(parser, ")");
    }
    if (is_sign(parser, "[")) {
        *ret_expr = new_expr(parser, EXPR_LIST);
        r = advance(parser);
        return r < 0 ? r : parse_list(parser, "]", true, *ret_expr);
    }
    if (is_sign(parser, "{"))
        return parse_map(parser, ret_expr);
    return parse_name(parser, ret_expr);
}

/* The dot is read already: a field, a field that may be missing, or a call of a member. */
static int parse_field(struct parser *parser, struct expr **expr)
{
    const bool is_optional = is_sign(parser, "?");
    int r = is_optional ? advance(parser) : 0;

    if (r < 0)
        return r;
    if (parser->token.kind != TOKEN_IDENT)
        return unexpected(parser);
    struct expr *field = new_expr(parser, EXPR_SELECT);
    field->name = token_text(parser);
    field->target = *expr;
    r = advance(parser);
    if (r < 0)
        return r;
    if (is_optional) {
        struct expr *name = tree_literal(&parser->tree, field->position, cel_string(field->name));
        *expr = tree_call(&parser->tree, field->position, "_?._", NULL, (struct expr *[]){field->target, name}, 2);
        return 0;
    }
    *expr = field;
    if (!is_sign(parser, "("))
        return 0;
    field->kind = EXPR_CALL;
    return parse_call(parser, field, expr);
}

static int parse_index(struct parser *parser, struct expr **expr)
{
    size_t position = (size_t)(parser->token.start - parser->lexer.text);
    struct expr *index;
    int r = advance(parser);

    if (r < 0)
        return r;
    const bool is_optional = is_sign(parser, "?");
    r = is_optional ? advance(parser) : 0;
    r = r < 0 ? r : parse_expr(parser, &index);
    r = r < 0 ? r : expect(parser, "]");
    if (r < 0)
        return r;
    *expr =
        tree_call(&parser->tree, position, is_optional ? "_[?_]" : "_[_]", NULL, (struct expr *[]){*expr, index}, 2);
    return 0;
}

static int parse_member(struct parser *parser, struct expr **ret_expr)
{
    int chain = 0;
    int r = parse_primary(parser, ret_expr);

    while (r == 0) {
        if (++chain > CEL_DEPTH_MAX)
            return wrong(parser, "expression recursion limit exceeded");
        if (is_sign(parser, ".")) {
            r = advance(parser);
            r = r < 0 ? r : parse_field(parser, ret_expr);
        } else if (is_sign(parser, "[")) {
            r = parse_index(parser, ret_expr);
        } else if (is_sign(parser, "{")) {
            return wrong(parser, "messages are not supported");
        } else {
            return 0;
        }
    }
    return r;
}

/* A minus directly before a number belongs to the number. */
static int parse_negative(struct parser *parser, struct expr **ret_expr)
{
    if (parser->token.literal.kind == CEL_DOUBLE)
        parser->token.literal.number = -parser->token.literal.number;
    else if (!parser->token.is_minimum)
        parser->token.literal.integer = -parser->token.literal.integer;
    parser->token.is_minimum = false;
    return parse_member(parser, ret_expr);
}

static int parse_unary(struct parser *parser, struct expr **ret_expr)
{
    const bool is_not = is_sign(parser, "!");
    const char *sign = is_not ? "!" : "-";
    size_t position = (size_t)(parser->token.start - parser->lexer.text);
    int count = 0;
    int r = 0;

    while (r == 0 && is_sign(parser, sign)) {
        r = advance(parser);
        count++;
    }
    if (r < 0)
        return r;
    if (count == 1 && !is_not && parser->token.kind == TOKEN_LITERAL && parser->token.is_number)
        return parse_negative(parser, ret_expr);
    r = parse_member(parser, ret_expr);
    if (r == 0 && count % 2)
        *ret_expr = tree_call(&parser->tree, position, is_not ? "!_" : "-_", NULL, ret_expr, 1);
    return r;
}

struct binary {
    const char *sign;
    const char *function;
    int level;
};

static const struct binary binaries[] = {
    {"*", "_*_", 2},   {"/", "_/_", 2}, {"%", "_%_", 2},   {"+", "_+_", 1},   {"-", "_-_", 1},   {"<", "_<_", 0},
    {"<=", "_<=_", 0}, {">", "_>_", 0}, {">=", "_>=_", 0}, {"==", "_==_", 0}, {"!=", "_!=_", 0}, {"in", "@in", 0},
};

static const struct binary *binary_at(const struct parser *parser, int level)
{
    for (size_t i = 0; i < ARRAY_LEN(binaries); i++)
        if (binaries[i].level == level && is_sign(parser, binaries[i].sign))
            return &binaries[i];
    return NULL;
}

static int parse_binary(struct parser *parser, int level, struct expr **ret_expr)
{
    const struct binary *binary;
    int chain = 0;
    int r = level > 2 ? parse_unary(parser, ret_expr) : parse_binary(parser, level + 1, ret_expr);

    while (level <= 2 && r == 0 && (binary = binary_at(parser, level))) {
        size_t position = (size_t)(parser->token.start - parser->lexer.text);
        struct expr *right;
        if (++chain > CEL_DEPTH_MAX)
            return wrong(parser, "expression recursion limit exceeded");
        r = advance(parser);
        r = r < 0 ? r : parse_binary(parser, level + 1, &right);
        if (r == 0)
            *ret_expr =
                tree_call(&parser->tree, position, binary->function, NULL, (struct expr *[]){*ret_expr, right}, 2);
    }
    return r;
}

/* A chain of && or ||, which is one call with all its terms. */
static int parse_logic(struct parser *parser, bool is_or, struct expr **ret_expr)
{
    VEC(struct expr *) terms = {0};
    size_t position = (size_t)(parser->token.start - parser->lexer.text);
    struct expr *term = NULL;
    int r;

    for (;;) {
        r = is_or ? parse_logic(parser, false, &term) : parse_binary(parser, 0, &term);
        if (r < 0)
            break;
        vec_push(&terms, term);
        if (!is_sign(parser, is_or ? "||" : "&&"))
            break;
        r = advance(parser);
        if (r < 0)
            break;
    }
    if (r == 0)
        *ret_expr = terms.len == 1
                        ? terms.items[0]
                        : tree_call(&parser->tree, position, is_or ? "_||_" : "_&&_", NULL, terms.items, terms.len);
    vec_done(&terms);
    return r;
}

static int parse_expr(struct parser *parser, struct expr **ret_expr)
{
    struct expr *yes;
    struct expr *no;
    size_t position;

    if (++parser->depth > CEL_DEPTH_MAX)
        return wrong(parser, "expression recursion limit exceeded");
    int r = parse_logic(parser, true, ret_expr);
    if (r == 0 && is_sign(parser, "?")) {
        position = (size_t)(parser->token.start - parser->lexer.text);
        r = advance(parser);
        r = r < 0 ? r : parse_logic(parser, true, &yes);
        r = r < 0 ? r : expect(parser, ":");
        r = r < 0 ? r : parse_expr(parser, &no);
        if (r == 0)
            *ret_expr = tree_call(&parser->tree, position, "_?_:_", NULL, (struct expr *[]){*ret_expr, yes, no}, 3);
    }
    parser->depth--;
    return r;
}

/*
 * Later steps walk over the tree by recursion, and over what a macro has put into it twice once for each place: both
 * are bounded here, where nothing recurs.
 */
struct place {
    const struct expr *expr;
    int depth;
};

struct places VEC_OF(struct place);

static void push_part(struct places *places, const struct expr *expr, int depth)
{
    if (expr)
        vec_push(places, (struct place){expr, depth});
}

static void push_parts(struct places *places, const struct expr *expr, int depth)
{
    push_part(places, expr->target, depth);
    for (uint32_t i = 0; i < expr->arg_count; i++)
        push_part(places, expr->args[i], depth);
    push_part(places, expr->accu_init, depth);
    push_part(places, expr->condition, depth);
    push_part(places, expr->step, depth);
    push_part(places, expr->result, depth);
}

static int check_size(const char *text, const struct expr *root, struct err *err)
{
    struct places places = {0};
    int size = 0;
    int r = 0;

    push_part(&places, root, 1);
    while (r == 0 && places.len) {
        const struct place place = vec_pop(&places);
        if (place.depth > CEL_TREE_DEPTH_MAX)
            r = position_error(text, place.expr->position, err, "expression recursion limit exceeded");
        else if (++size > CEL_TREE_SIZE_MAX)
            r = position_error(text, place.expr->position, err, "the expression is too large");
        else
            push_parts(&places, place.expr, place.depth + 1);
    }
    vec_done(&places);
    return r;
}

int cel_parse(struct arena *arena, const char *text, struct expr **ret_expr, struct err *err)
{
    struct parser parser = {
        .lexer = {.arena = arena, .text = text, .at = text, .err = err},
        .tree = {.arena = arena, .text = text, .err = err},
    };

    if (strlen(text) > CEL_EXPRESSION_BYTES_MAX)
        return err_set(err, -EINVAL, "1:1: the expression is longer than %d bytes", CEL_EXPRESSION_BYTES_MAX);
    if (!utf8_is_valid(text))
        return err_set(err, -EINVAL, "1:1: the expression is not UTF-8");
    int r = advance(&parser);
    r = r < 0 ? r : parse_expr(&parser, ret_expr);
    if (r == 0 && parser.token.kind != TOKEN_END)
        r = unexpected(&parser);
    return r < 0 ? r : check_size(text, *ret_expr, err);
}
