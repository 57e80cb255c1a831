/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cel/test/expressions.h"

static void a_program_knows_the_type_of_its_result(void **state)
{
    static const struct {
        const char *expression;
        const char *type;
    } cases[] = {
        {"1 + 1", "int"},
        {"[1, 2]", "list(int)"},
        {"{'a': [1.5]}", "map(string, list(double))"},
        {"[]", "list(dyn)"},
        {"any", "dyn"},
        {"any.a.b", "dyn"},
        {"[1].map(x, string(x))", "list(string)"},
        {"optional.of(text)", "optional_type(string)"},
        {"quantity('1').add(1)", "kubernetes.Quantity"},
        {"true ? 1 : 2", "int"},
        {"type(1)", "type(int)"},
        {"cel.bind(x, text, x.size())", "int"},
    };
    struct cel_env *env = test_env();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cel_program *program = NULL;
        struct err err = {0};
        if (cel_compile(env, cases[i].expression, &program, &err) < 0)
            fail_msg("%s: %s", cases[i].expression, err.text);
        assert_string_equal(cel_program_type(program), cases[i].type);
        cel_program_free(program);
    }
    cel_env_free(env);
}

static void types_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        const char *expression;
        const char *error;
    } cases[] = {
        {"x", "1:1: undeclared reference to 'x'"},
        {"unknown(1)", "1:1: undeclared reference to 'unknown'"},
        {"1 + 'a'", "1:3: found no matching overload for '_+_' applied to '(int, string)'"},
        {"text.startsWith(1)", "1:6: found no matching overload for 'startsWith' applied to 'string.(int)'"},
        {"1 && true", "1:1: expected type 'bool' but found 'int'"},
        {"text.field", "1:6: type 'string' does not support field selection"},
        {"(1).map(x, x)", "cannot be range of a comprehension"},
        {"true ? 1 : 'a'", "found no matching overload"},
        {"[1, 'a']", "expected type 'int' but found 'string'"},
        {"{'a': 1, 2: 3}", "expected type 'string' but found 'int'"},
        {"'a'.matches('(')", "invalid matches argument: missing closing ): `(`"},
        {"duration('1x')", "invalid duration argument"},
        {"timestamp('tomorrow')", "invalid timestamp argument"},
        {"'%d'.format(['a'])", "%d cannot format this type"},
        {"int('a')", "type conversion error"},
        {"cel.bind(x, 1, x) + x", "undeclared reference to 'x'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        assert_int_equal(compile_error(cases[i].expression, &err), -EINVAL);
        if (!strstr(err.text, cases[i].error))
            fail_msg("%s: %s", cases[i].expression, err.text);
    }
}

static void fields_of_a_declared_object_have_their_types(void **state)
{
    struct cel_env *env = cel_env_new();
    struct cel_program *program = NULL;
    struct err err = {0};

    (void)state;
    cel_env_field(env, "example.Box", "width", "int");
    cel_env_field(env, "example.Box", "labels", "map(string, list(string))");
    cel_env_variable(env, "box", "example.Box");
    assert_int_equal(cel_compile(env, "box.labels['a']", &program, &err), 0);
    assert_string_equal(cel_program_type(program), "list(string)");
    cel_program_free(program);
    program = NULL;
    assert_int_equal(cel_compile(env, "box.height", &program, &err), -EINVAL);
    assert_string_equal(err.text, "1:5: undefined field 'height'");
    assert_null(program);
    cel_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_knows_the_type_of_its_result),
        cmocka_unit_test(types_that_do_not_fit_are_refused),
        cmocka_unit_test(fields_of_a_declared_object_have_their_types),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
