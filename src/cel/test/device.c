/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/device.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

struct bench {
    struct cel_env *env;
    struct arena arena;
    struct cel_value device;
};

static int set_up(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct device_value device;
    struct cel_value version;
    struct cel_value memory;

    bench->env = device_env_new(DEVICE_LISTS_OFF);
    arena_init(&bench->arena);
    assert_int_equal(cel_semver(&bench->arena, "12.4.1", &version), 0);
    assert_int_equal(cel_quantity(&bench->arena, "141Gi", &memory), 0);
    device_value_init(&device, &bench->arena, "gpu.example.com");
    device_value_attribute(&device, "model", cel_string("H200"));
    device_value_attribute(&device, "cores", cel_int(132));
    device_value_attribute(&device, "mig", cel_bool(false));
    device_value_attribute(&device, "version", version);
    device_value_attribute(&device, "other.example.com/zone", cel_string("b"));
    device_value_capacity(&device, "memory", memory);
    bench->device = device_value_finish(&device, true);
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;

    arena_done(&bench->arena);
    cel_env_free(bench->env);
    free(bench);
    return 0;
}

static void selectors_see_the_device(void **state)
{
    static const struct {
        const char *selector;
        bool does_match;
    } cases[] = {
        {"device.driver == 'gpu.example.com'", true},
        {"device.attributes['gpu.example.com'].model == 'H200'", true},
        {"device.attributes['gpu.example.com'].cores > 200", false},
        {"!device.attributes['gpu.example.com'].mig", true},
        {"device.attributes['gpu.example.com'].version.isGreaterThan(semver('12.0.0'))", true},
        {"device.attributes['other.example.com'].zone == 'b'", true},
        {"device.capacity['gpu.example.com'].memory.compareTo(quantity('80Gi')) >= 0", true},
        {"device.allowMultipleAllocations", true},
        {"has(device.attributes['gpu.example.com'].missing)", false},
        {"has(device.attributes['nobody.example.com'].missing)", false},
        {"'nobody.example.com' in device.attributes", false},
    };
    struct bench *bench = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cel_program *selector = NULL;
        struct err err = {0};
        bool does_match = !cases[i].does_match;
        if (device_selector_compile(bench->env, cases[i].selector, &selector, &err) < 0 ||
            device_matches(selector, bench->device, &does_match, &err) < 0)
            fail_msg("%s: %s", cases[i].selector, err.text);
        if (does_match != cases[i].does_match)
            fail_msg("%s", cases[i].selector);
        cel_program_free(selector);
    }
}

static void a_device_that_cannot_be_judged_is_an_error(void **state)
{
    static const char *const selectors[] = {
        "device.attributes['gpu.example.com'].missing == 1",
        "device.attributes['gpu.example.com'].model > 1",
        "device.attributes['gpu.example.com'].model",
        "lists.range(1000000).all(x, x >= 0)",
    };
    struct bench *bench = *state;

    for (size_t i = 0; i < ARRAY_LEN(selectors); i++) {
        struct cel_program *selector = NULL;
        struct err err = {0};
        bool does_match = false;
        assert_int_equal(device_selector_compile(bench->env, selectors[i], &selector, &err), 0);
        assert_int_equal(device_matches(selector, bench->device, &does_match, &err), -EINVAL);
        assert_true(err.text[0] != '\0');
        assert_false(does_match);
        cel_program_free(selector);
    }
}

static void what_is_no_selector_is_refused(void **state)
{
    struct bench *bench = *state;
    struct cel_program *selector = NULL;
    struct err err = {0};
    char text[CEL_DEVICE_EXPRESSION_BYTES_MAX + 2];

    assert_int_equal(device_selector_compile(bench->env, "device.driver", &selector, &err), -EINVAL);
    assert_string_equal(err.text, "1:1: must evaluate to bool or the unknown type, not string");
    assert_int_equal(device_selector_compile(bench->env, "device.name == 'a'", &selector, &err), -EINVAL);
    assert_string_equal(err.text, "1:8: undefined field 'name'");
    memset(text, ' ', sizeof text);
    memcpy(text, "true", 4);
    text[sizeof text - 1] = '\0';
    assert_int_equal(device_selector_compile(bench->env, text, &selector, &err), -EINVAL);
    text[sizeof text - 2] = '\0';
    assert_int_equal(device_selector_compile(bench->env, text, &selector, &err), 0);
    cel_program_free(selector);
}

static void values_that_kubernetes_refuses_are_refused(void **state)
{
    struct bench *bench = *state;
    struct cel_value value;

    assert_int_equal(cel_quantity(&bench->arena, "1x", &value), -EINVAL);
    assert_int_equal(cel_quantity(&bench->arena, "", &value), -EINVAL);
    assert_int_equal(cel_semver(&bench->arena, "1.2", &value), -EINVAL);
    assert_int_equal(cel_semver(&bench->arena, "01.2.3", &value), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selectors_see_the_device),
        cmocka_unit_test(a_device_that_cannot_be_judged_is_an_error),
        cmocka_unit_test(what_is_no_selector_is_refused),
        cmocka_unit_test(values_that_kubernetes_refuses_are_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
