/* SPDX-License-Identifier: Apache-2.0 */
#include "services/podgroups/book.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "services/podgroups/facts.h"

struct stage {
    struct book *book;
    struct group *group;  // that differs
    uint32_t pods;        // that it had then
    int differs;
    int gone;
};

static void on_differs(void *arg, struct group *group)
{
    struct stage *stage = arg;

    stage->group = group;
    stage->pods = group->pods;
    stage->differs++;
}

static void on_gone(void *arg, struct group *group)
{
    (void)group;
    ((struct stage *)arg)->gone++;
}

static void stage_init(struct stage *stage)
{
    *stage = (struct stage){0};
    stage->book = book_new(&(struct book_options){.on_differs = on_differs, .on_gone = on_gone, .arg = stage});
}

static yyjson_doc *parse(const char *text)
{
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);

    assert_non_null(doc);
    return doc;
}

static const char *put_pod(struct stage *stage, const char *uid, const char *annotations, const char *requests,
                           const char *phase, const char *more)
{
    static char odd[128];
    char text[1024];

    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"n\",\"name\":\"p\",\"annotations\":{\"pod-group-name\":\"g\"%s}},"
                   "\"spec\":{\"nodeName\":\"node\",\"containers\":[{\"resources\":{\"requests\":%s}}]%s},"
                   "\"status\":{\"phase\":\"%s\"}}",
                   annotations, requests, more, phase);
    yyjson_doc *doc = parse(text);
    const char *problem = book_put_pod(stage->book, uid, yyjson_doc_get_root(doc));
    (void)snprintf(odd, sizeof odd, "%s", problem ? problem : "");
    yyjson_doc_free(doc);
    return odd;
}

static void put_group(struct stage *stage, uint32_t version, const char *spec, const char *status)
{
    char text[1024];

    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"n\",\"name\":\"g\",\"uid\":\"u\",\"resourceVersion\":\"%u\"},"
                   "\"spec\":%s,\"status\":{\"resourcesStatus\":%s}}",
                   version, spec, status);
    yyjson_doc *doc = parse(text);
    book_put_group(stage->book, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
}

static void assert_status(struct stage *stage, const char *lists)
{
    char expected[1024];
    size_t len;

    assert_non_null(stage->group);
    char *patch = book_patch(stage->book, stage->group, &len);
    (void)snprintf(expected, sizeof expected, "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"resourcesStatus\":%s}}",
                   lists);
    assert_non_null(patch);
    assert_string_equal(patch, expected);
    free(patch);
}

static void pods_add_and_take_away(void **state)
{
    (void)state;
    struct stage stage;

    stage_init(&stage);
    (void)put_pod(&stage, "1", "", "{\"cpu\":\"1\"}", "Pending", "");
    (void)put_pod(&stage, "2", "", "{\"cpu\":\"2\"}", "Running", "");
    assert_int_equal(stage.differs, 0);
    put_group(&stage, 1, "{}", "{}");
    assert_status(&stage, "{\"requested\":{\"cpu\":\"3\"},\"allocated\":{\"cpu\":\"2\"}}");
    (void)put_pod(&stage, "2", "", "{\"cpu\":\"2\"}", "Failed", "");
    assert_status(&stage, "{\"requested\":{\"cpu\":\"1\"}}");
    book_drop_pod(stage.book, "1");
    stage.differs = 0;
    put_group(&stage, 2, "{}", "{}");
    assert_int_equal(stage.differs, 0);
    /* The group may go before its pods, and come again. */
    (void)put_pod(&stage, "2", "", "{\"cpu\":\"2\"}", "Running", "");
    book_drop_group(stage.book, "n", "g");
    assert_int_equal(stage.gone, 1);
    put_group(&stage, 1, "{}", "{}");
    assert_status(&stage, "{\"requested\":{\"cpu\":\"2\"},\"allocated\":{\"cpu\":\"2\"}}");
    assert_int_equal(stage.pods, 1);
    book_free(stage.book);
}

static void a_group_that_loses_its_last_pod_is_known_to_be_empty(void **state)
{
    (void)state;
    struct stage stage;

    stage_init(&stage);
    (void)put_pod(&stage, "1", "", "{\"cpu\":\"1\"}", "Running", "");
    put_group(&stage, 1, "{}", "{\"requested\":{\"cpu\":\"1\"},\"allocated\":{\"cpu\":\"1\"}}");
    assert_int_equal(stage.differs, 0);
    book_drop_pod(stage.book, "1");
    assert_int_equal(stage.differs, 1);
    assert_int_equal(stage.pods, 0);
    book_free(stage.book);
}

static void priority_classes_decide_what_is_preemptible(void **state)
{
    (void)state;
    struct stage stage;
    yyjson_doc *high = parse("{\"value\":100}"), *fallback = parse("{\"value\":200,\"globalDefault\":true}");

    stage_init(&stage);
    (void)put_pod(&stage, "1", "", "{\"cpu\":\"1\"}", "Running", "");
    put_group(&stage, 1, "{\"priorityClassName\":\"high\"}",
              "{\"requested\":{\"cpu\":\"1\"},\"allocated\":{\"cpu\":\"1\"}}");
    assert_int_equal(stage.differs, 0);
    book_put_class(stage.book, "high", yyjson_doc_get_root(high));
    assert_status(&stage, "{\"allocatedNonPreemptible\":{\"cpu\":\"1\"}}");
    book_drop_class(stage.book, "high");
    stage.differs = 0;
    book_put_class(stage.book, "any", yyjson_doc_get_root(fallback));
    assert_int_equal(stage.differs, 1);
    put_group(&stage, 2, "{\"preemptibility\":\"preemptible\"}",
              "{\"requested\":{\"cpu\":\"1\"},\"allocated\":{\"cpu\":\"1\"},\"allocatedNonPreemptible\":{\"cpu\":1}}");
    assert_status(&stage, "{\"allocatedNonPreemptible\":null}");
    yyjson_doc_free(high);
    yyjson_doc_free(fallback);
    book_free(stage.book);
}

static void shared_gpus_wait_for_their_node_and_claims(void **state)
{
    (void)state;
    struct stage stage;
    yyjson_doc *node = parse("{\"metadata\":{\"labels\":{\"nvidia.com/gpu.memory\":\"40000\"}}}");
    yyjson_doc *claim = parse("{\"metadata\":{\"namespace\":\"n\",\"name\":\"c\"},\"spec\":{\"devices\":{\"requests\":["
                              "{\"exactly\":{\"deviceClassName\":\"x-GPU\",\"count\":2}},"
                              "{\"deviceClassName\":\"gpu\",\"allocationMode\":\"All\"},"
                              "{\"deviceClassName\":\"nic\",\"count\":7}]}}}");

    stage_init(&stage);
    put_group(&stage, 1, "{}", "{}");
    (void)put_pod(
        &stage, "1",
        ",\"gpu-memory\":\"10000\",\"gpu-fraction-num-devices\":\"2\",\"received-resource-type\":\"Fraction\"", "{}",
        "Running", ",\"resourceClaims\":[{\"name\":\"a\",\"resourceClaimName\":\"c\"}]");
    assert_status(&stage, "{\"requested\":{\"run.ai/gpu.memory\":\"20k\"}}");
    book_put_node(stage.book, "node", yyjson_doc_get_root(node));
    assert_status(&stage,
                  "{\"requested\":{\"run.ai/gpu.memory\":\"20k\"},\"allocated\":{\"nvidia.com/gpu\":\"500m\"}}");
    book_put_claim(stage.book, yyjson_doc_get_root(claim));
    assert_status(&stage, "{\"requested\":{\"run.ai/gpu.memory\":\"20k\",\"x-GPU\":\"3\"},"
                          "\"allocated\":{\"nvidia.com/gpu\":\"500m\",\"x-GPU\":\"3\"}}");
    book_drop_claim(stage.book, "n", "c");
    book_drop_node(stage.book, "node");
    assert_status(&stage, "{\"requested\":{\"run.ai/gpu.memory\":\"20k\"}}");
    book_drop_pod(stage.book, "1");
    yyjson_doc_free(node);
    yyjson_doc_free(claim);
    book_free(stage.book);
}

static void what_cannot_be_read_is_said_once_and_left_out(void **state)
{
    (void)state;
    struct stage stage;

    stage_init(&stage);
    put_group(&stage, 1, "{}", "{}");
    assert_string_equal(put_pod(&stage, "1", ",\"gpu-fraction\":\"half\"", "{\"cpu\":\"1\"}", "Pending", ""),
                        "gpu-fraction");
    assert_string_equal(put_pod(&stage, "1", ",\"gpu-fraction\":\"half\"", "{\"cpu\":\"1\"}", "Pending", ""), "");
    assert_string_equal(put_pod(&stage, "2", ",\"gpu-memory\":\"99999999999999999\"", "{}", "Pending", ""),
                        "gpu-memory");
    assert_string_equal(put_pod(&stage, "3", "", "{\"cpu\":\"much\"}", "Pending", ""), "cpu");
    assert_status(&stage, "{\"requested\":{\"cpu\":\"1\"}}");
    book_free(stage.book);
}

static int64_t memory_of(const char *labels)
{
    char text[512];

    (void)snprintf(text, sizeof text, "{\"metadata\":{\"labels\":{%s}}}", labels);
    yyjson_doc *doc = parse(text);
    int64_t mib = node_gpu_memory(yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    return mib;
}

static void expect_on_its_way(const char *pod, bool is_expected)
{
    yyjson_doc *doc = parse(pod);

    assert_int_equal(pod_is_on_its_way(yyjson_doc_get_root(doc)), is_expected);
    yyjson_doc_free(doc);
}

static void pods_are_on_their_way_until_they_run_or_cannot_be_placed(void **state)
{
    (void)state;
    expect_on_its_way("{}", true);
    expect_on_its_way("{\"spec\":{\"nodeName\":\"n\"},\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":"
                      "\"PodScheduled\",\"status\":\"True\"}]}}",
                      true);
    expect_on_its_way("{\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"
                      "\"False\"}]}}",
                      false);
    expect_on_its_way("{\"status\":{\"phase\":\"Running\"}}", false);
    expect_on_its_way("{\"metadata\":{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}", false);
}

static void labels_say_how_much_memory_a_gpu_has(void **state)
{
    (void)state;
    assert_int_equal(memory_of(""), 0);
    assert_int_equal(memory_of("\"nvidia.com/gpu.memory\":\"81559\""), 81559);
    assert_int_equal(memory_of("\"nvidia.com/gpu.memory\":\"much\""), 0);
    assert_int_equal(memory_of("\"beta.amd.com/gpu.vram.16G\":\"1\""), 16000);
    assert_int_equal(memory_of("\"beta.amd.com/gpu.vram.1bG\":\"1\""), 0);
    assert_int_equal(memory_of("\"nvidia.com/gpu.memory\":\"1\",\"beta.amd.com/gpu.vram.16G\":\"1\""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_add_and_take_away),
        cmocka_unit_test(a_group_that_loses_its_last_pod_is_known_to_be_empty),
        cmocka_unit_test(priority_classes_decide_what_is_preemptible),
        cmocka_unit_test(shared_gpus_wait_for_their_node_and_claims),
        cmocka_unit_test(what_cannot_be_read_is_said_once_and_left_out),
        cmocka_unit_test(pods_are_on_their_way_until_they_run_or_cannot_be_placed),
        cmocka_unit_test(labels_say_how_much_memory_a_gpu_has),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
