/* SPDX-License-Identifier: Apache-2.0 */

/* Grouping by Kartas, with the answers of their expressions given by hand; tests/grouper has them answered. */
#include "objects/group/live.h"

#include <errno.h>
#include <stdlib.h>

#include "objects/test/world.h"

#define HEAD                                                                                                       \
    "{\"metadata\": {\"name\": \"k\"}, \"spec\": {\"structureDefinition\": {\"rootComponent\": {\"name\": \"w\", " \
    "\"kind\": {\"group\": \"example.com\", \"version\": \"v1\", \"kind\": \"Widget\"}, "                          \
    "\"statusDefinition\": {}}, \"childComponents\": ["
#define GANG "]}, \"optimizationInstructions\": {\"gangScheduling\": "
#define TAIL "}}}"
#define LEAF(name, owner, path)                                                                                     \
    "{\"name\": \"" name "\", \"ownerRef\": \"" owner "\", \"scaleDefinition\": {\"replicasPath\": \"" path "\"}, " \
    "\"podSelector\": {\"componentTypeSelector\": {\"keyPath\": \".role\", \"value\": \"" name "\"}}}"

struct stage {
    struct object_set set;
    struct object_options options;
    struct group_live live;
    struct group_outcome outcome;
    yyjson_doc *docs[8];
    size_t doc_count;
    const struct object *owner;
    struct err err;
};

static yyjson_val *read_json(struct stage *stage, const char *text)
{
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);

    assert_non_null(doc);
    stage->docs[stage->doc_count++] = doc;
    return yyjson_doc_get_root(doc);
}

static bool has_class(void *arg, const char *name)
{
    (void)arg;
    (void)name;
    return true;
}

static enum group_presence find_group(void *arg, const char *namespace, const char *name)
{
    (void)arg;
    (void)namespace;
    (void)name;
    return GROUP_ABSENT;
}

static bool find_defaults(void *arg, const char *group, const char *kind, struct group_defaults *ret_defaults)
{
    (void)arg;
    (void)group;
    (void)kind;
    (void)ret_defaults;
    return false;
}

static void stage_init(struct stage *stage, const char *kartas)
{
    *stage = (struct stage){0};
    object_set_init(&stage->set, NULL);
    object_options_init(&stage->options);
    stage->live = (struct group_live){
        .has_priority_class = has_class,
        .find_group = find_group,
        .find_defaults = find_defaults,
        .uses_kartas = true,
        .has_kartas = true,
        .kartas = read_json(stage, kartas),
    };
    yyjson_val *pod = read_json(stage, "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"p\", "
                                       "\"namespace\": \"n\", \"uid\": \"u1\"}}");
    assert_int_equal(object_set_add(&stage->set, pod, NULL, &stage->err), 0);
    stage->live.pod = pod;
    stage->owner = group_add_owner(&stage->set, "example.com/v1", "Widget",
                                   read_json(stage, "{\"metadata\": {\"name\": \"o\", \"uid\": \"u2\"}}"), false);
}

static void stage_done(struct stage *stage)
{
    group_live_done(&stage->live);
    object_set_done(&stage->set);
    for (size_t i = 0; i < stage->doc_count; i++)
        yyjson_doc_free(stage->docs[i]);
}

static int group(struct stage *stage)
{
    return group_pod_live(&stage->set, stage->set.objects.items[0], &stage->owner, 1, &stage->options, &stage->live,
                          &stage->outcome, &stage->err);
}

/* Answers each question by the results that stand behind its text in `table`; others have none. */
static void answer(struct stage *stage, const char *const *table)
{
    struct strbuf text;

    strbuf_init(&text, 1 << 20);
    strbuf_addch(&text, '[');
    vec_foreach (&stage->live.questions, question) {
        const char *results = "[]";

        for (size_t i = 0; table[i]; i += 2) {
            if (strcmp(table[i], question->expression) == 0 && question->document >= 0)
                results = table[i + 1];
        }
        strbuf_addf(&text, "%s{\"results\": %s}", text.len > 1 ? ", " : "", results);
    }
    strbuf_addch(&text, ']');
    stage->live.answers = read_json(stage, text.text);
    strbuf_done(&text);
}

static void groups_as(const char *karta, const char *const *table, const char *expected)
{
    struct stage stage;
    char *text;

    stage_init(&stage, karta);
    assert_int_equal(group(&stage), -EAGAIN);
    assert_int_equal(stage.live.need, GROUP_NEEDS_VALUES);
    answer(&stage, table);
    if (group(&stage) < 0) {
        assert_string_equal(stage.err.text, expected);
    } else {
        text = yyjson_val_write(yyjson_obj_get(stage.outcome.pod_group, "spec"), 0, NULL);
        assert_non_null(strstr(text, expected));
        free(text);
    }
    stage_done(&stage);
}

static void components_become_subgroups(void **state)
{
    (void)state;
    static const char karta[] = "[" HEAD LEAF("a", "w", ".a") "," LEAF("b", "w", ".b") GANG
        "{\"podGroup\": {\"name\": \"g\", \"subGroups\": [{\"componentName\": \"a\"}, {\"componentName\": "
        "\"b\"}]}}" TAIL "]";

    groups_as(karta, (const char *const[]){".a", "[2]", ".b", "[3]", NULL},
              "\"subGroups\":[{\"name\":\"a\",\"minMember\":2},{\"name\":\"b\",\"minMember\":3}]");
    groups_as(karta, (const char *const[]){".a", "[2]", ".b", "[null]", NULL},
              "Widget o: by Karta k: component b has no pods: give it a scaleDefinition");
    groups_as(karta, (const char *const[]){".a", "[2.5]", NULL},
              "Widget o: by Karta k: component a: '.a' returns a value that is not a whole number");
    groups_as(karta, (const char *const[]){".a", "[1, 2]", NULL},
              "Widget o: by Karta k: component a: its scale has 2 numbers for 1 instances");
}

static void numbers_multiply_and_are_bounded(void **state)
{
    (void)state;
    static const char karta[] = "[" HEAD LEAF("a", "w", ".a") "," LEAF("b", "a", ".b") "," LEAF("c", "a", ".c") GANG
        "{\"podGroup\": {\"name\": \"g\"}}" TAIL "]";

    groups_as(karta, (const char *const[]){".a", "[2]", ".b", "[3]", ".c", "[4]", NULL}, "\"minMember\":14");
    groups_as(karta, (const char *const[]){".a", "[0]", ".b", "[3]", ".c", "[4]", NULL}, "\"minMember\":7");
    groups_as(karta, (const char *const[]){".a", "[5]", ".b", "[0]", ".c", "[null]", NULL}, "\"minMember\":5");
    groups_as(karta, (const char *const[]){".a", "[2147483647]", ".b", "[1]", ".c", "[1]", NULL},
              "Widget o: by Karta k: component a: too many pods");
}

static void what_makes_no_sense_is_passed_over(void **state)
{
    (void)state;
    static const char *const kartas[] = {
        "[{}, 1, {\"spec\": 3}]",
        "[" HEAD LEAF("w", "w", ".a") GANG "{\"podGroup\": {\"name\": \"g\"}}" TAIL "]",
        "[" HEAD LEAF("a", "x", ".a") GANG "{\"podGroup\": {\"name\": \"g\"}}" TAIL "]",
        "[" HEAD LEAF("a", "b", ".a") "," LEAF("b", "a", ".a") GANG "{\"podGroup\": {\"name\": \"g\"}}" TAIL "]",
        "[" HEAD LEAF("a", "w", ".a") GANG
        "{\"podGroups\": [{\"name\": \"g\", \"members\": [{\"componentName\": \"x\"}]}]}" TAIL "]",
    };

    for (size_t i = 0; i < ARRAY_LEN(kartas); i++) {
        struct stage stage;

        stage_init(&stage, kartas[i]);
        assert_int_equal(group(&stage), 0);
        assert_string_equal(stage.outcome.name, "pg-o-u2");
        assert_true(i == 0 || strstr(stage.live.warning, "Karta k is not used: "));
        stage_done(&stage);
    }
}

static void a_karta_with_a_bad_expression_is_not_followed(void **state)
{
    (void)state;
    struct stage stage;

    stage_init(&stage, "[" HEAD LEAF("a", "w", ".[") GANG "{\"podGroup\": {\"name\": \"g\"}}" TAIL "]");
    assert_int_equal(group(&stage), -EAGAIN);
    vec_push(&stage.live.senseless, (struct group_senseless){".[", "syntax error"});
    assert_int_equal(group(&stage), 0);
    assert_string_equal(stage.outcome.name, "pg-o-u2");
    assert_string_equal(stage.live.warning, "Karta k is not used: '.[': syntax error");
    stage_done(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_become_subgroups),
        cmocka_unit_test(numbers_multiply_and_are_bounded),
        cmocka_unit_test(what_makes_no_sense_is_passed_over),
        cmocka_unit_test(a_karta_with_a_bad_expression_is_not_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
