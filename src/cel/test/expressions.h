/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/err.h"
#include "cel/cel.h"

/* Evaluates expressions for the tests: in an environment with `text`, a string, and `any`, a 7 whose type is not known. */

static inline struct cel_env *test_env(void)
{
    struct cel_env *env = cel_env_new();

    cel_env_variable(env, "text", "string");
    cel_env_variable(env, "any", "dyn");
    return env;
}

static inline int compile_error(const char *expression, struct err *err)
{
    struct cel_program *program = NULL;
    struct cel_env *env = test_env();
    int r = cel_compile(env, expression, &program, err);

    cel_program_free(program);
    cel_env_free(env);
    return r;
}

/* What an expression gives within a cost limit. Of the result's value, only a boolean or a number may be looked at. */
static inline struct cel_result evaluate(const char *expression, uint64_t cost_limit)
{
    const struct cel_variable variables[] = {{"text", cel_string("tex\xc3\xa4t")}, {"any", cel_int(7)}};
    struct cel_program *program = NULL;
    struct cel_env *env = test_env();
    struct err err = {0};
    struct arena arena;

    if (cel_compile(env, expression, &program, &err) < 0)
        fail_msg("%.100s: %s", expression, err.text);
    arena_init(&arena);
    struct cel_result result = cel_eval(program, variables, ARRAY_LEN(variables), cost_limit, &arena);
    arena_done(&arena);
    cel_program_free(program);
    cel_env_free(env);
    return result;
}

static inline void expect_true(const char *expression)
{
    struct cel_result result = evaluate(expression, CEL_DEVICE_COST_MAX);

    if (result.outcome != CEL_VALUE || result.value.kind != CEL_BOOL || !result.value.boolean)
        fail_msg("%.100s: %s", expression, cel_outcome_name(result.outcome));
}

static inline void expect_outcome(const char *expression, enum cel_outcome outcome)
{
    struct cel_result result = evaluate(expression, CEL_DEVICE_COST_MAX);

    if (result.outcome != outcome)
        fail_msg("%.100s: %s, not %s", expression, cel_outcome_name(result.outcome), cel_outcome_name(outcome));
}

#define EXPECT_ALL_TRUE(...)                             \
    do {                                                 \
        static const char *const all_[] = {__VA_ARGS__}; \
        for (size_t i_ = 0; i_ < ARRAY_LEN(all_); i_++)  \
            expect_true(all_[i_]);                       \
    } while (0)
