/* SPDX-License-Identifier: Apache-2.0 */

/* What Kubernetes' environment validates once types are known. */
#include "cel/check_literals_internal.h"

#include <string.h>

#include "cel/library/format_string.h"

typedef int (*visit_fn)(void *context, struct expr *expr, bool is_in_format);

static int walk(struct expr *expr, bool is_in_format, visit_fn visit, void *context)
{
    int r = visit(context, expr, is_in_format);
    bool is_format = expr->kind == EXPR_CALL && expr->name && strcmp(expr->name, "format") == 0;

    if (r == 0 && expr->target)
        r = walk(expr->target, is_in_format || is_format, visit, context);
    for (uint32_t i = 0; r == 0 && i < expr->arg_count; i++)
        r = walk(expr->args[i], is_in_format || is_format, visit, context);
    if (r == 0 && expr->kind == EXPR_FOLD) {
        struct expr *parts[] = {expr->accu_init, expr->condition, expr->step, expr->result};
        for (size_t i = 0; r == 0 && i < ARRAY_LEN(parts); i++)
            r = walk(parts[i], is_in_format, visit, context);
    }
    return r;
}

struct settle {
    struct arena *arena;
    const struct bindings *bindings;
};

static int settle(void *context, struct expr *expr, bool is_in_format)
{
    struct settle *how = context;

    (void)is_in_format;
    if (expr->type)
        expr->type = type_substitute(how->arena, how->bindings, expr->type, true);
    return 0;
}

void settle_types(struct arena *arena, const struct bindings *bindings, struct expr *root)
{
    struct settle how = {.arena = arena, .bindings = bindings};

    (void)walk(root, false, settle, &how);
}

struct literals {
    const char *text;
    struct err *err;
};

static int check_same_type(struct literals *literals, const struct expr *list, uint32_t start, uint32_t stride)
{
    const struct cel_type *first = NULL;

    for (uint32_t i = start; i < list->arg_count; i += stride) {
        const struct cel_type *type = list->args[i]->type;
        bool is_value = stride == 1 || start == 1;
        if (is_value && list->is_optional[i / stride])
            type = type->param_count ? type->params[0] : &type_dyn;
        if (first && !type_is_equivalent(first, type))
            return position_error(literals->text, list->args[i]->position, literals->err,
                                  "expected type '%s' but found '%s'", first->name, type->name);
        first = first ? first : type;
    }
    return 0;
}

static const struct expr *literal_text(const struct expr *expr)
{
    return expr->kind == EXPR_LITERAL && expr->literal.kind == CEL_STRING ? expr : NULL;
}

static int check_pattern(struct literals *literals, const struct expr *at)
{
    struct pattern *pattern = NULL;
    struct err why = {0};
    char copy[PATTERN_BYTES_MAX + 1];
    size_t len = at->literal.text.len;

    if (len > PATTERN_BYTES_MAX)
        return position_error(literals->text, at->position, literals->err, "invalid matches argument: too long");
    memcpy(copy, at->literal.text.bytes, len);
    copy[len] = '\0';
    if (pattern_new(copy, &pattern, &why) < 0)
        return position_error(literals->text, at->position, literals->err, "invalid matches argument: %s", why.text);
    pattern_free(pattern);
    return 0;
}

static int check_call(struct literals *literals, const struct expr *call)
{
    const struct expr *last = call->arg_count ? literal_text(call->args[call->arg_count - 1]) : NULL;
    struct timestamp time;
    int64_t nanos;

    if (last && strcmp(call->name, "matches") == 0)
        return check_pattern(literals, last);
    if (last && strcmp(call->name, "duration") == 0 && !read_duration(last->literal.text, &nanos))
        return position_error(literals->text, last->position, literals->err, "invalid duration argument");
    if (last && strcmp(call->name, "timestamp") == 0 && !read_timestamp(last->literal.text, &time))
        return position_error(literals->text, last->position, literals->err, "invalid timestamp argument");
    if (strcmp(call->name, "format") == 0 && call->target && literal_text(call->target) && call->arg_count == 1 &&
        call->args[0]->kind == EXPR_LIST)
        return check_format(literals->text, call, literals->err);
    return 0;
}

static int check_literal(void *context, struct expr *expr, bool is_in_format)
{
    struct literals *literals = context;
    int r = 0;

    if (expr->kind == EXPR_LIST && !is_in_format)
        return check_same_type(literals, expr, 0, 1);
    if (expr->kind == EXPR_MAP && !is_in_format) {
        r = check_same_type(literals, expr, 0, 2);
        return r < 0 ? r : check_same_type(literals, expr, 1, 2);
    }
    return expr->kind == EXPR_CALL ? check_call(literals, expr) : 0;
}

int check_literals(const char *text, const struct expr *root, struct err *err)
{
    struct literals literals = {.text = text, .err = err};
    struct expr *start;

    /* Nothing is changed on this walk. */
    memcpy(&start, &root, sizeof start);
    return walk(start, false, check_literal, &literals);
}
