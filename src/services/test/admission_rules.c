/* SPDX-License-Identifier: Apache-2.0 */

/* Which objects are admitted, and what pods get added. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/access/base64.h"
#include "services/admission/review.h"
#include "services/admission/rules.h"
#include "text/json.h"

static const struct admission_rules rules = {
    .scheduler_name = "kai-scheduler",
    .shares_gpus = true,
    .limits_memory = true,
    .blocks_devices = true,
    .runtime_class = "nvidia",
};

static yyjson_doc *parse(const char *text)
{
    struct err err = {0};
    yyjson_doc *doc = NULL;

    if (json_parse(text, strlen(text), "test", &doc, &err) < 0)
        fail_msg("%s in %s", err.text, text);
    return doc;
}

/* The reasons for which the rule denies the object, NULL when it does not; to be freed. */
static char *judge(const struct admission_rules *how, admission_rule_fn rule, const char *object, const char *old,
                   struct admission_verdict *verdict)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = parse(object);
    _cleanup_(json_doc_freep) yyjson_doc *old_doc = old ? parse(old) : NULL;
    const struct admission_request request = {
        .namespace = "team", .object = yyjson_doc_get_root(doc), .old = old_doc ? yyjson_doc_get_root(old_doc) : NULL};

    admission_verdict_init(verdict);
    rule(how, &request, verdict);
    return verdict->is_denied ? xstrdup(verdict->message.text) : NULL;
}

/* The denial begins with `begin` and says more; NULL: nothing is denied. */
static void assert_judged(const struct admission_rules *how, admission_rule_fn rule, const char *object,
                          const char *old, const char *begin)
{
    struct admission_verdict verdict;
    _cleanup_(freep) char *denial = judge(how, rule, object, old, &verdict);

    admission_verdict_done(&verdict);
    if (!begin && denial)
        fail_msg("denied: %s: %s", denial, object);
    if (begin && (!denial || strncmp(denial, begin, strlen(begin)) != 0 || strlen(denial) < strlen(begin) + 20))
        fail_msg("expected '%s...', found '%s'", begin, denial ? denial : "nothing");
}

/* A pod with annotations and the rest of its spec. */
static const char *pod_text(const char *annotations, const char *containers)
{
    static char text[4096];

    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"p\",\"annotations\":{%s}},\"spec\":{\"schedulerName\":\"kai-scheduler\","
                   "\"containers\":%s}}",
                   annotations, containers ? containers : "[{\"name\":\"main\"}]");
    return text;
}

#define GPU_LIMIT "[{\"name\":\"main\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]"
#define GPU_ENV(env)                                                                                \
    "[{\"name\":\"main\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}},\"env\":[{\"name\":" \
    "\"NVIDIA_VISIBLE_DEVICES\"," env "}]}]"

static void requests_for_gpus_that_make_no_sense_are_denied(void **state)
{
    static const struct {
        const char *annotations;
        const char *containers;
        const char *denial;  // NULL: admitted
    } rows[] = {
        {"", NULL, NULL},
        {"\"gpu-fraction\":\"0.5\"", NULL, NULL},
        {"\"gpu-fraction\":\"1e-1\"", NULL, NULL},
        {"\"gpu-fraction\":\".25\"", NULL, NULL},
        {"\"gpu-memory\":\"4096\"", NULL, NULL},
        {"\"gpu-memory\":\"18446744073709551615\"", NULL, NULL},
        {"\"gpu-fraction\":\"0.5\",\"gpu-fraction-num-devices\":\"2\",\"mps\":\"true\"", NULL, NULL},
        {"\"gpu-fraction\":\"0.5\",\"gpu-fraction-container-name\":\"main\"", NULL, NULL},
        {"\"mps\":\"false\"", NULL, NULL},
        {"\"mps\":\"true\"", NULL, "MPS is only supported with GPU fraction request"},
        {"\"gpu-fraction\":\"0.5\"", GPU_LIMIT,
         "cannot have both GPU fraction request and whole GPU resource request/limit"},
        {"\"gpu-memory\":\"1\"", GPU_LIMIT, "cannot request both GPU and GPU memory"},
        {"\"gpu-memory\":\"1\",\"gpu-fraction\":\"0.5\"", NULL, "cannot request both GPU and GPU memory"},
        {"\"gpu-fraction-num-devices\":\"2\"", NULL,
         "cannot request multiple fractional devices without specifying fraction portion or gpu-memory"},
        {"\"gpu-memory\":\"0\"", NULL, "gpu-memory annotation value must be a positive integer greater than 0"},
        {"\"gpu-memory\":\"4Gi\"", NULL, "gpu-memory annotation value must be a positive integer greater than 0"},
        {"\"gpu-memory\":\"-1\"", NULL, "gpu-memory annotation value must be a positive integer greater than 0"},
        {"\"gpu-memory\":\"18446744073709551616\"", NULL,
         "gpu-memory annotation value must be a positive integer greater than 0"},
        {"\"gpu-fraction\":\"\"", NULL, "gpu-fraction annotation value must be a positive number smaller than 1.0"},
        {"\"gpu-fraction\":\"0\"", NULL, "gpu-fraction annotation value must be a positive number smaller than 1.0"},
        {"\"gpu-fraction\":\"1\"", NULL, "gpu-fraction annotation value must be a positive number smaller than 1.0"},
        {"\"gpu-fraction\":\"-0.5\"", NULL, "gpu-fraction annotation value must be a positive number smaller than 1.0"},
        {"\"gpu-fraction\":\"half\"", NULL, "gpu-fraction annotation value must be a positive number smaller than 1.0"},
        {"\"gpu-fraction\":\" 0.5\"", NULL, "gpu-fraction annotation value must be a positive number smaller than 1.0"},
        {"\"gpu-fraction\":\"500m\"", NULL, "gpu-fraction annotation value must be a positive number smaller than 1.0"},
        {"\"gpu-fraction\":\"nan\"", NULL,
         "gpu-fraction annotation value must be a float written with a decimal point or a scientific notation .given "
         "value: nan"},
        {"\"gpu-fraction\":\"0x1p-1\"", NULL,
         "gpu-fraction annotation value must be a float written with a decimal point or a scientific notation .given "
         "value: 0x1p-1"},
        {"\"gpu-fraction\":\"0.5\",\"gpu-fraction-num-devices\":\"0\"", NULL,
         "fraction count annotation value must be a positive integer greater than 0"},
        {"\"gpu-fraction\":\"0.5\",\"gpu-fraction-container-name\":\"other\"", NULL,
         "failed to get fraction container ref: container with name other not found for fraction request"},
        {"", GPU_ENV("\"value\":\"none\""), NULL},
        {"", GPU_ENV("\"value\":\"void\""), NULL},
        {"", GPU_ENV("\"value\":\"\""), NULL},
        {"", GPU_ENV("\"value\":\"all\""),
         "container main has an environment variable NVIDIA_VISIBLE_DEVICES defined with a value of all. This is "
         "forbidden due to conflicts with Nvidia's device plugin. The only values that are allowed are 'void' or "
         "'none'"},
        {"", GPU_ENV("\"valueFrom\":{\"fieldRef\":{}}"),
         "container main has an environment variable NVIDIA_VISIBLE_DEVICES defined with a valueFrom reference. This "
         "is "
         "forbidden due to possible conflicts with Nvidia's device plugin"},
        {"\"gpu-fraction\":\"0.5\"",
         "[{\"name\":\"main\",\"env\":[{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"all\"}]}]", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_judged(&rules, admission_check_pod, pod_text(rows[i].annotations, rows[i].containers), NULL,
                      rows[i].denial);
}

static void without_gpu_sharing_parts_of_gpus_are_denied(void **state)
{
    const struct admission_rules off = {.scheduler_name = "kai-scheduler", .runtime_class = ""};

    (void)state;
    assert_judged(&off, admission_check_pod, pod_text("\"gpu-fraction\":\"0.5\"", NULL), NULL,
                  "attempting to create a pod team/p with gpu sharing request, while GPU sharing is disabled");
    assert_judged(&off, admission_check_pod, pod_text("", GPU_ENV("\"value\":\"all\"")), NULL, NULL);
}

static void pods_of_other_schedulers_are_left_alone(void **state)
{
    static const char pod[] =
        "{\"metadata\":{\"annotations\":{\"gpu-fraction\":\"7\"}},\"spec\":{\"schedulerName\":\"default-scheduler\","
        "\"containers\":[{\"name\":\"main\"}]}}";
    struct admission_verdict verdict;

    (void)state;
    assert_judged(&rules, admission_check_pod, pod, NULL, NULL);
    assert_null(judge(&rules, admission_default_pod, pod, NULL, &verdict));
    assert_null(verdict.patch);
    admission_verdict_done(&verdict);
}

static void a_pod_that_was_there_may_change_as_long_as_it_becomes_no_worse(void **state)
{
    const struct admission_rules off = {.scheduler_name = "kai-scheduler", .runtime_class = ""};
    char old[4096];

    (void)state;
    (void)snprintf(old, sizeof old, "%s", pod_text("\"gpu-fraction\":\"0.5\"", NULL));
    assert_judged(&off, admission_check_pod, pod_text("\"gpu-fraction\":\"0.5\",\"a\":\"b\"", NULL), old, NULL);
    assert_judged(&rules, admission_check_pod, pod_text("\"gpu-fraction\":\"1.5\"", NULL), old,
                  "gpu-fraction annotation value must be a positive number smaller than 1.0");
}

/* The pod after the patch; the rest is freed. */
static yyjson_mut_doc *patched(const struct admission_rules *how, const char *pod)
{
    struct admission_verdict verdict;
    _cleanup_(json_doc_freep) yyjson_doc *doc = parse(pod);
    yyjson_mut_doc *result = yyjson_doc_mut_copy(doc, NULL);
    yyjson_patch_err err = {0};

    assert_null(judge(how, admission_default_pod, pod, NULL, &verdict));
    if (verdict.patch) {
        yyjson_mut_val *after =
            yyjson_mut_patch(result, yyjson_mut_doc_get_root(result), yyjson_mut_doc_get_root(verdict.patch), &err);

        if (!after)
            fail_msg("%s", err.msg);
        yyjson_mut_doc_set_root(result, after);
    }
    admission_verdict_done(&verdict);
    return result;
}

static const char *text_at(yyjson_mut_doc *doc, const char *path)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_doc_ptr_get(doc, path));

    return text ? text : "";
}

static void a_pod_on_a_shared_gpu_gets_what_it_needs(void **state)
{
    yyjson_mut_doc *pod;
    char map[128];

    (void)state;
    pod = patched(&rules,
                  pod_text("\"gpu-fraction\":\"0.5\"",
                           "[{\"name\":\"main\",\"env\":[{\"name\":\"GPU_PORTION\",\"value\":\"9\"},{\"name\":\"A\","
                           "\"value\":\"1\"}]},{\"name\":\"side\"}]"));
    const char *prefix = text_at(pod, "/metadata/annotations/runai~1shared-gpu-configmap");
    assert_int_equal(strlen(prefix), strlen("p-bbbbbbb-shared-gpu"));
    (void)snprintf(map, sizeof map, "%s-0", prefix);
    assert_string_equal(text_at(pod, "/spec/containers/0/env/0/name"), "A");
    assert_string_equal(text_at(pod, "/spec/containers/0/env/1/name"), "NVIDIA_VISIBLE_DEVICES");
    assert_string_equal(text_at(pod, "/spec/containers/0/env/1/valueFrom/configMapKeyRef/name"), map);
    assert_string_equal(text_at(pod, "/spec/containers/0/env/2/name"), "RUNAI_NUM_OF_GPUS");
    assert_string_equal(text_at(pod, "/spec/containers/0/env/3/name"), "GPU_PORTION");
    assert_string_equal(text_at(pod, "/spec/containers/0/env/4/valueFrom/configMapKeyRef/key"),
                        "CUDA_DEVICE_MEMORY_LIMIT");
    assert_true(yyjson_mut_get_bool(
        yyjson_mut_doc_ptr_get(pod, "/spec/containers/0/env/4/valueFrom/configMapKeyRef/optional")));
    assert_string_equal(text_at(pod, "/spec/volumes/0/configMap/name"), map);
    assert_string_equal(text_at(pod, "/spec/runtimeClassName"), "nvidia");
    assert_string_equal(text_at(pod, "/spec/containers/1/env/0/value"), "void");
    (void)snprintf(map, sizeof map, "%s-0-evar", prefix);
    assert_string_equal(text_at(pod, "/spec/containers/0/envFrom/0/configMapRef/name"), map);

    /* Asked again, nothing is left to be done. */
    _cleanup_(freep) char *text = yyjson_mut_write(pod, 0, NULL);
    struct admission_verdict verdict;
    assert_null(judge(&rules, admission_default_pod, text, NULL, &verdict));
    assert_null(verdict.patch);
    admission_verdict_done(&verdict);
    yyjson_mut_doc_free(pod);
}

static void names_of_volumes_fit_whatever_the_pod_is_called(void **state)
{
    static const char pod[] =
        "{\"metadata\":{\"generateName\":\"g-\",\"annotations\":{\"gpu-memory\":\"100\",\"gpu-fraction-container-"
        "name\":"
        "\"b\"},\"ownerReferences\":[{\"name\":\"trainer.of.a.very.long.name.that-goes-on-and-on-and-on-and-on\"}]},"
        "\"spec\":{\"schedulerName\":\"kai-scheduler\",\"runtimeClassName\":\"mine\",\"initContainers\":[{\"name\":"
        "\"a\"},"
        "{\"name\":\"b\"}],\"containers\":[{\"name\":\"main\"}]}}";
    const struct admission_rules plain = {
        .scheduler_name = "kai-scheduler", .shares_gpus = true, .runtime_class = "nvidia"};
    yyjson_mut_doc *doc;

    (void)state;
    doc = patched(&plain, pod);
    const char *name = text_at(doc, "/spec/volumes/0/name");
    assert_true(strlen(name) <= 63);
    assert_null(strchr(name, '.'));
    assert_non_null(strstr(name, "-i1-vol"));
    assert_string_equal(text_at(doc, "/spec/runtimeClassName"), "mine");
    assert_string_equal(text_at(doc, "/spec/initContainers/1/env/0/name"), "NVIDIA_VISIBLE_DEVICES");
    assert_null(yyjson_mut_doc_ptr_get(doc, "/spec/initContainers/1/env/3"));
    assert_null(yyjson_mut_doc_ptr_get(doc, "/spec/containers/0/env"));
    yyjson_mut_doc_free(doc);
}

static void containers_without_a_gpu_see_none(void **state)
{
    yyjson_mut_doc *doc;

    (void)state;
    doc = patched(&rules,
                  pod_text("", "[{\"name\":\"gpu\",\"resources\":{\"requests\":{\"nvidia.com/gpu\":1}}},"
                               "{\"name\":\"mig\",\"resources\":{\"requests\":{\"nvidia.com/mig-1g.5gb\":\"1\"}}},"
                               "{\"name\":\"zero\",\"resources\":{\"requests\":{\"nvidia.com/gpu\":\"0\"}},"
                               "\"env\":[{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"all\"}]}]"));
    assert_null(yyjson_mut_doc_ptr_get(doc, "/spec/containers/0/env"));
    assert_null(yyjson_mut_doc_ptr_get(doc, "/spec/containers/1/env"));
    assert_string_equal(text_at(doc, "/spec/containers/2/env/0/value"), "void");
    assert_null(yyjson_mut_doc_ptr_get(doc, "/spec/runtimeClassName"));
    yyjson_mut_doc_free(doc);
}

static void subgroups_form_a_tree_with_a_least_size(void **state)
{
    static const struct {
        const char *spec;
        const char *denial;
        const char *update;  // the denial of an update; "": the same
        const char *warning;
    } rows[] = {
        {"\"minMember\":2", NULL, "", NULL},
        {"\"subGroups\":[{\"name\":\"a\",\"minMember\":1},{\"name\":\"b\",\"minMember\":2}],\"minSubGroup\":2", NULL,
         "", NULL},
        {"\"minMember\":2,\"minSubGroup\":null", NULL, "", NULL},
        {"\"minMember\":2,\"minSubGroup\":1",
         "minMember and minSubGroup are mutually exclusive: set minMember (2) to schedule a fixed number of pods, or "
         "set "
         "minSubGroup to require a minimum number of child SubGroups, but not both",
         "", NULL},
        {"\"subGroups\":[{\"name\":\"a\",\"minMember\":1},{\"name\":\"a\",\"minMember\":1}]",
         "duplicate subgroup name a", "", NULL},
        {"\"subGroups\":[{\"name\":\"a\",\"parent\":\"z\",\"minMember\":1}]", "parent z of a was not found", "", NULL},
        {"\"subGroups\":[{\"name\":\"a\",\"parent\":\"b\",\"minSubGroup\":1},{\"name\":\"b\",\"parent\":\"a\","
         "\"minSubGroup\":1}]",
         "cycle detected in subgroups", "", NULL},
        {"\"subGroups\":[{\"name\":\"a\",\"parent\":\"a\",\"minSubGroup\":1}]", "cycle detected in subgroups", "",
         NULL},
        {"\"subGroups\":[{\"name\":\"a\",\"minMember\":1,\"minSubGroup\":1}]",
         "subgroup \"a\": minMember and minSubGroup are mutually exclusive", "", NULL},
        {"\"subGroups\":[{\"name\":\"a\",\"minSubGroup\":1}]",
         "subgroup \"a\": minSubGroup cannot be set on a leaf SubGroup (no child SubGroups)", "", NULL},
        {"\"subGroups\":[{\"name\":\"a\"}]", "subgroup a: minMember is required", "", NULL},
        {"\"subGroups\":[{\"name\":\"a\",\"minMember\":1},{\"name\":\"b\",\"parent\":\"a\",\"minMember\":1}]",
         "subgroup \"a\": minMember cannot be set on a mid-level SubGroup (has child SubGroups); use minSubGroup "
         "instead",
         NULL, NULL},
        {"\"subGroups\":[{\"name\":\"a\",\"minSubGroup\":2},{\"name\":\"b\",\"parent\":\"a\",\"minMember\":1}]", NULL,
         "", "subgroup \"a\": minSubGroup (2) exceeds the number of direct child SubGroups (1)"},
        {"\"minSubGroup\":5,\"subGroups\":[{\"name\":\"a\",\"minMember\":1}]", NULL, "",
         "minSubGroup (5) exceeds the number of direct child SubGroups (1)"},
        {"\"minSubGroup\":0,\"subGroups\":[{\"name\":\"a\",\"minMember\":1}]",
         "minSubGroup at the podgroup level must be equal to or greater than 1", "", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct admission_verdict verdict;
        char text[2048];

        (void)snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"g\"},\"spec\":{%s}}", rows[i].spec);
        assert_judged(&rules, admission_check_pod_group, text, NULL, rows[i].denial);
        assert_judged(&rules, admission_check_pod_group, text, text,
                      rows[i].update && !*rows[i].update ? rows[i].denial : rows[i].update);
        free(judge(&rules, admission_check_pod_group, text, NULL, &verdict));
        assert_int_equal(verdict.warnings.len, rows[i].warning != NULL);
        if (rows[i].warning)
            assert_string_equal(verdict.warnings.items[0], rows[i].warning);
        admission_verdict_done(&verdict);
    }
}

static void queues_have_resources_and_aliases_are_unique(void **state)
{
    (void)state;
    assert_judged(&rules, admission_check_queue, "{\"spec\":{\"resources\":{}}}", NULL, NULL);
    assert_judged(&rules, admission_check_queue, "{\"spec\":{}}", NULL, "resources must be specified");
    assert_judged(
        &rules, admission_check_topology,
        "{\"spec\":{\"levels\":[{\"nodeLabel\":\"a\",\"alias\":\"x\"},{\"nodeLabel\":\"b\"},{\"nodeLabel\":\"c\"}]}}",
        NULL, NULL);
    assert_judged(
        &rules, admission_check_topology,
        "{\"spec\":{\"levels\":[{\"nodeLabel\":\"y\",\"alias\":\"x\"},{\"nodeLabel\":\"b\",\"alias\":\"x\"},"
        "{\"nodeLabel\":\"c\",\"alias\":\"y\"}]}}",
        NULL,
        "invalid topology aliases: aliases must be unique within the topology; duplicated: [x]; an alias must not "
        "equal a nodeLabel; conflicting: [y]");
}

/* The answer to a review; to be freed. */
static yyjson_doc *answer_to(const char *text, admission_rule_fn rule)
{
    struct review_outcome outcome;
    struct err err = {0};
    struct strbuf answer;

    strbuf_init(&answer, 1 << 20);
    assert_int_equal(review_answer(&rules, rule, text, strlen(text), 7, &answer, &outcome, &err), 0);
    yyjson_doc *doc = parse(answer.text);
    strbuf_done(&answer);
    return doc;
}

static const char *answer_text(yyjson_doc *doc, const char *path)
{
    const char *text = yyjson_get_str(yyjson_doc_ptr_get(doc, path));

    return text ? text : "";
}

#define REVIEW(request) \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{" request "}}"
#define FRACTION(value)                                                                                            \
    "{\"metadata\":{\"name\":\"p\",\"annotations\":{\"gpu-fraction\":\"" value "\"}},\"spec\":{\"schedulerName\":" \
    "\"kai-scheduler\",\"containers\":[{\"name\":\"main\"}]}}"

static void reviews_are_answered(void **state)
{
    yyjson_doc *doc;
    char *patch = NULL;
    size_t len;

    (void)state;
    doc = answer_to(REVIEW("\"uid\":\"u1\",\"namespace\":\"team\",\"object\":" FRACTION("2")), admission_check_pod);
    assert_string_equal(answer_text(doc, "/response/uid"), "u1");
    assert_string_equal(answer_text(doc, "/response/status/reason"), "Forbidden");
    assert_int_equal(yyjson_get_int(yyjson_doc_ptr_get(doc, "/response/status/code")), 403);
    assert_true(yyjson_is_false(yyjson_doc_ptr_get(doc, "/response/allowed")));
    yyjson_doc_free(doc);

    doc = answer_to(REVIEW("\"uid\":\"u2\",\"namespace\":\"team\",\"object\":" FRACTION("0.5")), admission_default_pod);
    assert_true(yyjson_is_true(yyjson_doc_ptr_get(doc, "/response/allowed")));
    assert_string_equal(answer_text(doc, "/response/patchType"), "JSONPatch");
    assert_int_equal(base64_decode(answer_text(doc, "/response/patch"), &patch, &len), 0);
    assert_non_null(strstr(patch, "/spec/runtimeClassName"));
    free(patch);
    yyjson_doc_free(doc);

    doc = answer_to(REVIEW("\"uid\":\"u3\",\"object\":null,\"oldObject\":{}"), admission_check_pod);
    assert_true(yyjson_is_true(yyjson_doc_ptr_get(doc, "/response/allowed")));
    yyjson_doc_free(doc);

    doc = answer_to(REVIEW("\"uid\":\"u4\",\"namespace\":\"team\",\"object\":{\"metadata\":{\"namespace\":\"other\"}}"),
                    admission_check_queue);
    assert_non_null(strstr(answer_text(doc, "/response/status/message"),
                           "error: the namespace from the provided object other does not match the namespace team"));
    yyjson_doc_free(doc);
}

static void texts_that_are_no_reviews_are_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"apiVersion\":\"admission.k8s.io/v1beta1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u\"}}",
        REVIEW(""),
        REVIEW("\"uid\":7"),
        REVIEW("\"uid\":\"u\",\"object\":[]")};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct review_outcome outcome;
        struct err err = {0};
        struct strbuf answer;

        strbuf_init(&answer, 1 << 20);
        assert_int_equal(
            review_answer(&rules, admission_check_pod, texts[i], strlen(texts[i]), 7, &answer, &outcome, &err),
            -EINVAL);
        assert_int_equal(answer.len, 0);
        assert_true(err.text[0]);
        strbuf_done(&answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_for_gpus_that_make_no_sense_are_denied),
        cmocka_unit_test(without_gpu_sharing_parts_of_gpus_are_denied),
        cmocka_unit_test(pods_of_other_schedulers_are_left_alone),
        cmocka_unit_test(a_pod_that_was_there_may_change_as_long_as_it_becomes_no_worse),
        cmocka_unit_test(a_pod_on_a_shared_gpu_gets_what_it_needs),
        cmocka_unit_test(names_of_volumes_fit_whatever_the_pod_is_called),
        cmocka_unit_test(containers_without_a_gpu_see_none),
        cmocka_unit_test(subgroups_form_a_tree_with_a_least_size),
        cmocka_unit_test(queues_have_resources_and_aliases_are_unique),
        cmocka_unit_test(reviews_are_answered),
        cmocka_unit_test(texts_that_are_no_reviews_are_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
