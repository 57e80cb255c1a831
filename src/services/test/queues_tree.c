/* SPDX-License-Identifier: Apache-2.0 */
#include "services/queues/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"

struct stage {
    struct tree *tree;
    struct flag_pairs none;
    int differs;
    int unsettled;
};

static void on_differs(void *arg, struct queue *queue)
{
    (void)queue;
    ((struct stage *)arg)->differs++;
}

static void on_gone(void *arg, struct queue *queue)
{
    (void)arg;
    assert_non_null(queue->uid);
}

static void on_unsettled(void *arg)
{
    ((struct stage *)arg)->unsettled++;
}

static void stage_init(struct stage *stage)
{
    *stage = (struct stage){0};
    stage->tree = tree_new(&(struct tree_options){
        .labels = &stage->none,
        .label_defaults = &stage->none,
        .on_differs = on_differs,
        .on_gone = on_gone,
        .on_unsettled = on_unsettled,
        .arg = stage,
    });
}

static void put_queue(struct stage *stage, const char *name, const char *parent, uint32_t version, const char *status)
{
    char text[512];

    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"%s\",\"uid\":\"u-%s\",\"resourceVersion\":\"%u\"},"
                   "\"spec\":{\"parentQueue\":\"%s\"},\"status\":%s}",
                   name, name, version, parent, status);
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    assert_non_null(doc);
    tree_put_queue(stage->tree, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
}

static void put_group(struct stage *stage, const char *uid, const char *queue, const char *gpus)
{
    char text[512];

    (void)snprintf(text, sizeof text,
                   "{\"spec\":{\"queue\":\"%s\"},\"status\":{\"resourcesStatus\":{\"allocated\":{\"x/gpu\":\"%s\"}}}}",
                   queue, gpus);
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    assert_non_null(doc);
    tree_put_group(stage->tree, uid, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
}

static struct queue *find(const struct stage *stage, const char *name)
{
    struct queue *queue;

    for (size_t cursor = 0; (queue = tree_next(stage->tree, &cursor));) {
        if (strcmp(queue->name, name) == 0)
            return queue;
    }
    return NULL;
}

static void assert_gpus(struct stage *stage, const char *name, double gpus)
{
    struct queue *queue = find(stage, name);

    assert_non_null(queue);
    assert_true(queue_allocated(stage->tree, queue, RESOURCE_GPU) == gpus);
}

static void a_change_of_a_group_reaches_all_queues_above(void **state)
{
    (void)state;
    struct stage stage;

    stage_init(&stage);
    put_group(&stage, "g1", "leaf", "2");
    put_queue(&stage, "leaf", "middle", 1, "{}");
    put_queue(&stage, "middle", "root", 1, "{}");
    put_queue(&stage, "root", "", 1, "{}");
    assert_int_equal(stage.unsettled, 1);
    tree_settle(stage.tree);
    assert_int_equal(stage.differs, 3);
    assert_gpus(&stage, "root", 2);

    put_group(&stage, "g1", "leaf", "500m");
    put_group(&stage, "g2", "middle", "1");
    assert_gpus(&stage, "leaf", 0.5);
    assert_gpus(&stage, "middle", 1.5);
    assert_gpus(&stage, "root", 1.5);
    tree_drop_group(stage.tree, "g1");
    assert_gpus(&stage, "leaf", 0);
    assert_gpus(&stage, "root", 1);
    assert_int_equal(stage.unsettled, 1);
    tree_free(stage.tree);
}

static void queues_that_move_or_go_take_their_sums_with_them(void **state)
{
    (void)state;
    struct stage stage;

    stage_init(&stage);
    put_queue(&stage, "a", "", 1, "{}");
    put_queue(&stage, "b", "", 1, "{}");
    put_queue(&stage, "leaf", "a", 1, "{}");
    put_group(&stage, "g1", "leaf", "2");
    tree_settle(stage.tree);
    assert_gpus(&stage, "a", 2);
    put_queue(&stage, "leaf", "b", 2, "{}");
    tree_settle(stage.tree);
    assert_gpus(&stage, "a", 0);
    assert_gpus(&stage, "b", 2);
    tree_drop_queue(stage.tree, "leaf");
    tree_settle(stage.tree);
    assert_gpus(&stage, "b", 0);
    assert_null(find(&stage, "leaf"));
    /* The group is still there, and counts again with the queue. */
    put_queue(&stage, "leaf", "a", 9, "{}");
    tree_settle(stage.tree);
    assert_gpus(&stage, "a", 2);
    tree_free(stage.tree);
}

static void a_circle_ends_the_way_up(void **state)
{
    (void)state;
    struct stage stage;

    stage_init(&stage);
    put_queue(&stage, "a", "b", 1, "{}");
    put_queue(&stage, "b", "a", 1, "{}");
    put_queue(&stage, "below", "a", 1, "{}");
    put_group(&stage, "g1", "a", "1");
    put_group(&stage, "g2", "b", "2");
    put_group(&stage, "g3", "below", "4");
    tree_settle(stage.tree);
    assert_gpus(&stage, "a", 5);
    assert_gpus(&stage, "b", 2);
    put_queue(&stage, "b", "", 2, "{}");
    tree_settle(stage.tree);
    assert_gpus(&stage, "b", 7);
    tree_free(stage.tree);
}

static void a_status_is_written_once_and_an_older_one_is_not_believed(void **state)
{
    (void)state;
    struct stage stage;
    size_t len;

    stage_init(&stage);
    put_queue(&stage, "a", "", 5, "{}");
    put_queue(&stage, "b", "a", 5, "{}");
    put_group(&stage, "g1", "b", "2");
    tree_settle(stage.tree);
    char *patch = tree_patch(stage.tree, find(&stage, "a"), &len);
    assert_string_equal(patch, "{\"metadata\":{\"uid\":\"u-a\"},\"status\":{\"childQueues\":[\"b\"],"
                               "\"allocated\":{\"x/gpu\":\"2\"}}}");
    free(patch);
    put_queue(&stage, "a", "", 7, "{\"childQueues\":[\"b\"],\"allocated\":{\"x/gpu\":2}}");
    assert_null(tree_patch(stage.tree, find(&stage, "a"), &len));
    put_queue(&stage, "a", "", 6, "{}");
    assert_null(tree_patch(stage.tree, find(&stage, "a"), &len));
    tree_drop_queue(stage.tree, "b");
    tree_settle(stage.tree);
    patch = tree_patch(stage.tree, find(&stage, "a"), &len);
    assert_string_equal(patch, "{\"metadata\":{\"uid\":\"u-a\"},\"status\":{\"childQueues\":null,\"allocated\":null}}");
    free(patch);
    tree_free(stage.tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_a_group_reaches_all_queues_above),
        cmocka_unit_test(queues_that_move_or_go_take_their_sums_with_them),
        cmocka_unit_test(a_circle_ends_the_way_up),
        cmocka_unit_test(a_status_is_written_once_and_an_older_one_is_not_believed),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
