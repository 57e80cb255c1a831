/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/object.h"

#include "objects/test/world.h"

static void lists_of_every_kind_are_taken_apart(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, "apiVersion: v1\nkind: List\nitems:\n"
                   "- {apiVersion: v1, kind: Node, metadata: {name: a}}\n"
                   "- {apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: q}, spec: {resources: {}}}\n"
                   "---\napiVersion: v1\nkind: NodeList\nitems: [{metadata: {name: b}}, {metadata: {name: c}}]\n"
                   "---\n- {apiVersion: v1, kind: Node, metadata: {name: d}}\n");
    (void)world_node(&w, "a");
    (void)world_node(&w, "c");
    (void)world_node(&w, "d");
    (void)world_queue(&w, "q");
    assert_int_equal(w.set.read_count, 5);
    world_done(&w);
}

static void unknown_kinds_are_named_and_counted(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, "{apiVersion: v1, kind: Service, metadata: {name: a}}\n---\n"
                   "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}}\n---\n"
                   "{apiVersion: v1, kind: Service, metadata: {name: b}}\n---\n"
                   "{apiVersion: amlarc.azureml.com/v1alpha1, kind: AmlJob, metadata: {name: b}}\n");
    assert_int_equal(w.notes.skipped.len, 3);
    assert_string_equal(w.notes.skipped.items[0].kind, "Service");
    assert_int_equal(w.notes.skipped.items[0].count, 2);
    assert_string_equal(w.notes.skipped.items[1].kind, "Gadget.example.com");
    assert_string_equal(w.notes.skipped.items[2].kind, "AmlJob.amlarc.azureml.com");
    world_done(&w);
}

static void identity_and_age_are_made_up_where_they_are_missing(void **state)
{
    (void)state;
    struct world w;
    const struct object_kind *kind = object_kind_of("batch", "Job");

    world_init(&w);
    world_read(
        &w,
        "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: {}}}}\n---\n"
        "{apiVersion: batch/v1, kind: Job, metadata: {generateName: run-, namespace: x, uid: u-1, creationTimestamp: "
        "2026-03-01T12:00:00Z}, spec: {template: {spec: {}}}}\n");
    const struct object *a = object_set_find(&w.set, kind, "default", "a");
    const struct object *b = object_set_find_uid(&w.set, "u-1");
    assert_non_null(a);
    assert_string_equal(a->uid, "default/a");
    assert_int_equal(a->created, 1);
    assert_non_null(b);
    assert_string_equal(b->name, "run-2");
    assert_true(b->created > a->created);
    assert_null(object_set_find(&w.set, kind, "default", "b"));
    world_done(&w);
}

static void the_later_of_two_counts(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 1}}}\n---\n"
                   "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 2}}}\n");
    node_id node = state_find_node(w.state, "a");
    assert_int_equal(state_books(w.state, node).allocatable[RES_CPU], 2000);
    assert_string_equal(w.notes.warnings.items[0], "Node a is defined twice in the input; the later definition counts");
    world_done(&w);
}

static void what_is_no_object_is_named_with_its_place(void **state)
{
    (void)state;
    world_fails("a: 1\n", "a.yaml:1:1: expected a Kubernetes object, found one without a kind");
    world_fails("---\nkind: Pod\n", "a.yaml:2:1: expected a Kubernetes object, found one without an apiVersion");
    world_fails("apiVersion: v1\nkind: List\nitems:\n- just text\n", "a.yaml:4:3: expected a Kubernetes object");
    world_fails("apiVersion: v1\nkind: Pod\n", "a.yaml:1:1: Pod: metadata.name: is missing");
    world_fails(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, creationTimestamp: yesterday}\n",
        "a.yaml:3:40: Pod: metadata.creationTimestamp: 'yesterday' is not a time; write it as 2026-03-01T12:00:00Z");
    world_fails(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {schedulerName: kai-scheduler, nodeSelector: "
        "{disk: 1}}\n",
        "a.yaml:4:59: Pod default/a: spec.nodeSelector.disk: expected a string, found number; put it in quotes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_every_kind_are_taken_apart),
        cmocka_unit_test(unknown_kinds_are_named_and_counted),
        cmocka_unit_test(identity_and_age_are_made_up_where_they_are_missing),
        cmocka_unit_test(the_later_of_two_counts),
        cmocka_unit_test(what_is_no_object_is_named_with_its_place),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
