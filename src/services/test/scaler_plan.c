/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scaler/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "text/json.h"

static const struct plan_options options = {
    .namespace = "kai-scale-adjust",
    .app = "scaling-pod",
    .image = "muster",
    .service_account = "scaler",
    .memory_ratio = 0.1,
};

#define UNSCHEDULABLE "{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\"}]}"
#define NOT_READY "{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"NotReady\"}]}"

static void read_in(struct plan *plan, const char *text, void (*put)(struct plan *plan, yyjson_val *pod))
{
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);

    assert_non_null(doc);
    put(plan, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
}

static void put_pod(struct plan *plan, const char *name, const char *annotations, const char *status)
{
    char text[1024];

    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"a\",\"name\":\"%s\",\"uid\":\"u\",\"resourceVersion\":\"1\","
                   "\"annotations\":{%s}},\"spec\":{\"nodeSelector\":{\"pool\":\"p\"},\"containers\":["
                   "{\"resources\":{\"requests\":{\"cpu\":\"500m\",\"memory\":\"1Gi\"}}},"
                   "{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},\"status\":%s}",
                   name, annotations, status);
    read_in(plan, text, plan_put_pod);
}

/* The scaling pod of a pod, as the watch shows it. */
static void put_scaling(struct plan *plan, const char *for_name, int gpus, const char *phase)
{
    char name[SCALING_NAME_MAX + 1];
    char text[1024];

    scaling_name("a", for_name, name);
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"%s\",\"uid\":\"s\",\"annotations\":{\"shared-gpu-pod-name\":\"%s\","
                   "\"shared-gpu-pod-namespace\":\"a\"}},\"spec\":{\"containers\":[{\"resources\":{\"requests\":"
                   "{\"nvidia.com/gpu\":\"%d\"}}}]},\"status\":{\"phase\":\"%s\"}}",
                   name, for_name, gpus, phase);
    read_in(plan, text, plan_put_scaling);
}

static void assert_missing(const struct plan *plan, const char *name)
{
    const struct sharer *sharer = plan_next_missing(plan);

    if (!name) {
        assert_null(sharer);
        return;
    }
    assert_non_null(sharer);
    assert_string_equal(sharer->name, name);
}

static void pods_that_fit_on_one_gpu_share_a_scaling_pod(void **state)
{
    (void)state;
    struct plan plan;

    plan_init(&plan, &options);
    put_pod(&plan, "p1", "\"gpu-fraction\":\"0.5\"", UNSCHEDULABLE);
    put_pod(&plan, "p2", "\"gpu-fraction\":\"0.5\"", UNSCHEDULABLE);
    assert_missing(&plan, "p1");
    plan_expect(&plan, plan_next_missing(&plan));
    assert_missing(&plan, NULL);
    put_pod(&plan, "p3", "\"gpu-fraction\":\"0.1\"", UNSCHEDULABLE);
    assert_missing(&plan, "p2");
    plan_expect(&plan, plan_next_missing(&plan));
    assert_missing(&plan, NULL);
    plan_done(&plan);
}

static void only_pods_without_a_place_for_a_part_of_a_gpu_count(void **state)
{
    (void)state;
    struct plan plan;

    plan_init(&plan, &options);
    put_pod(&plan, "whole", "", UNSCHEDULABLE);
    put_pod(&plan, "new", "\"gpu-fraction\":\"0.5\"", "{}");
    put_pod(&plan, "gang", "\"gpu-fraction\":\"0.5\"", NOT_READY);
    put_pod(&plan, "ended", "\"gpu-fraction\":\"0.5\"", "{\"phase\":\"Succeeded\"}");
    put_pod(&plan, "odd", "\"gpu-fraction\":\"1.5\"", UNSCHEDULABLE);
    put_pod(&plan, "many", "\"gpu-fraction\":\"0.5\",\"gpu-fraction-num-devices\":\"none\"", UNSCHEDULABLE);
    assert_missing(&plan, NULL);
    put_pod(&plan, "memory", "\"gpu-memory\":\"4096\"", UNSCHEDULABLE);
    assert_missing(&plan, "memory");
    assert_int_equal(plan_next_missing(&plan)->hundredths, 10);
    plan_drop_pod(&plan, "a", "memory");
    assert_missing(&plan, NULL);
    plan_done(&plan);
}

static void a_pod_on_several_gpus_needs_one_node_with_all_of_them(void **state)
{
    (void)state;
    struct plan plan;

    plan_init(&plan, &options);
    put_scaling(&plan, "p1", 1, "Pending");
    put_scaling(&plan, "p2", 1, "Pending");
    put_pod(&plan, "p1", "\"gpu-fraction\":\"0.5\"", UNSCHEDULABLE);
    put_pod(&plan, "p2", "\"gpu-fraction\":\"0.5\"", UNSCHEDULABLE);
    put_pod(&plan, "wide", "\"gpu-fraction\":\"0.2\",\"gpu-fraction-num-devices\":\"2\"", UNSCHEDULABLE);
    /* Two GPUs are enough for the sum, but not on one node. */
    assert_missing(&plan, "wide");
    assert_int_equal(plan_next_missing(&plan)->devices, 2);
    plan_done(&plan);
}

static void scaling_pods_go_when_their_pod_has_a_place_or_they_ran(void **state)
{
    (void)state;
    struct plan plan;
    char name[SCALING_NAME_MAX + 1];

    plan_init(&plan, &options);
    put_pod(&plan, "p1", "\"gpu-fraction\":\"0.5\"", UNSCHEDULABLE);
    put_scaling(&plan, "p1", 1, "Pending");
    assert_null(plan_next_unneeded(&plan));
    put_pod(&plan, "p1", "\"gpu-fraction\":\"0.5\"", "{\"phase\":\"Failed\"}");
    assert_non_null(plan_next_unneeded(&plan));
    put_pod(&plan, "p1", "\"gpu-fraction\":\"0.5\"", UNSCHEDULABLE);
    assert_null(plan_next_unneeded(&plan));
    put_scaling(&plan, "p1", 1, "Succeeded");
    struct scaling_pod *over = plan_next_unneeded(&plan);
    assert_non_null(over);
    over->is_leaving = true;
    assert_null(plan_next_unneeded(&plan));
    /* An older view of it does not bring it back. */
    put_scaling(&plan, "p1", 1, "Pending");
    assert_null(plan_next_unneeded(&plan));
    scaling_name("a", "p1", name);
    plan_drop_scaling(&plan, name);
    assert_missing(&plan, "p1");
    plan_done(&plan);
}

static void one_that_could_not_be_created_is_missing_again(void **state)
{
    (void)state;
    struct plan plan;
    char name[SCALING_NAME_MAX + 1];

    plan_init(&plan, &options);
    put_pod(&plan, "p1", "\"gpu-fraction\":\"0.5\"", UNSCHEDULABLE);
    plan_expect(&plan, plan_next_missing(&plan));
    assert_missing(&plan, NULL);
    /* It is not shown yet, and stays although nobody knows whether it is needed. */
    assert_null(plan_next_unneeded(&plan));
    scaling_name("a", "p1", name);
    plan_expect_not(&plan, name);
    assert_missing(&plan, "p1");
    /* Once the watch has shown it, it was created after all. */
    put_scaling(&plan, "p1", 1, "Pending");
    plan_expect_not(&plan, name);
    assert_missing(&plan, NULL);
    plan_done(&plan);
}

static void a_scaling_pod_asks_for_whole_gpus_where_its_pod_may_run(void **state)
{
    (void)state;
    struct plan plan;

    plan_init(&plan, &options);
    put_pod(&plan, "p1", "\"gpu-fraction\":\"0.3\",\"gpu-fraction-num-devices\":\"3\"", UNSCHEDULABLE);
    const char *body = plan_next_missing(&plan)->body;
    assert_non_null(strstr(body, "\"requests\":{\"nvidia.com/gpu\":\"3\",\"cpu\":\"1500m\",\"memory\":\"1Gi\"}"));
    assert_non_null(strstr(body, "\"limits\":{\"nvidia.com/gpu\":\"3\"}"));
    assert_non_null(strstr(body, "\"nodeSelector\":{\"pool\":\"p\"}"));
    assert_non_null(strstr(body, "\"shared-gpu-pod-name\":\"p1\""));
    plan_done(&plan);
}

static void names_of_scaling_pods_differ_and_fit(void **state)
{
    (void)state;
    char one[SCALING_NAME_MAX + 1];
    char other[SCALING_NAME_MAX + 1];
    char longest[254];

    scaling_name("a-b", "c", one);
    scaling_name("a", "b-c", other);
    assert_string_not_equal(one, other);
    memset(longest, 'n', sizeof longest - 1);
    longest[253] = '\0';
    scaling_name("namespace", longest, one);
    longest[252] = 'm';
    scaling_name("namespace", longest, other);
    assert_string_not_equal(one, other);
    assert_true(strlen(one) <= SCALING_NAME_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_that_fit_on_one_gpu_share_a_scaling_pod),
        cmocka_unit_test(only_pods_without_a_place_for_a_part_of_a_gpu_count),
        cmocka_unit_test(a_pod_on_several_gpus_needs_one_node_with_all_of_them),
        cmocka_unit_test(scaling_pods_go_when_their_pod_has_a_place_or_they_ran),
        cmocka_unit_test(one_that_could_not_be_created_is_missing_again),
        cmocka_unit_test(a_scaling_pod_asks_for_whole_gpus_where_its_pod_may_run),
        cmocka_unit_test(names_of_scaling_pods_differ_and_fit),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
