/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/test/world.h"

#define QUEUE "apiVersion: scheduling.run.ai/v2\nkind: Queue\n"
#define FREE "gpu: {quota: -1, limit: -1}, cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1}"
#define ALL QUEUE "metadata: {name: all}\nspec: {resources: {" FREE "}}\n"
#define POD(name, scheduler)                                   \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name   \
    ", namespace: team, labels: {kai.scheduler/queue: all}}\n" \
    "spec: {" scheduler "containers: [{name: c, image: i}]}\n"

/* The warnings of reading the input, one line each. */
static void warns(const char *yaml, const char *expected)
{
    struct world w;
    struct strbuf lines;

    world_init(&w);
    world_read(&w, yaml);
    strbuf_init(&lines, 100000);
    vec_foreach (&w.notes.warnings, warning)
        strbuf_addf(&lines, "%s\n", *warning);
    assert_string_equal(lines.text, expected);
    strbuf_done(&lines);
    world_done(&w);
}

static void a_pod_of_another_scheduler_is_named(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, ALL POD("a", "") POD("b", "schedulerName: volcano, ") POD("c", "schedulerName: kai-scheduler, ")
                       POD("d", "nodeName: n1, "));
    assert_int_equal(w.notes.warnings.len, 2);
    assert_string_equal(
        w.notes.warnings.items[0],
        "Pod team/a: it is left to default-scheduler; to schedule it here, set schedulerName: kai-scheduler");
    assert_string_equal(w.notes.warnings.items[1],
                        "Pod team/b: it is left to volcano; to schedule it here, set schedulerName: kai-scheduler");
    assert_int_equal(w.notes.left_out.len, 2);
    assert_string_equal(w.notes.left_out.items[1].name, "b");
    assert_string_equal(w.notes.left_out.items[1].scheduler, "volcano");
    world_done(&w);
}

static void many_pods_of_other_schedulers_are_not_all_named(void **state)
{
    (void)state;
    struct world w;
    struct strbuf yaml;

    world_init(&w);
    strbuf_init(&yaml, 100000);
    strbuf_addstr(&yaml, ALL);
    for (int i = 0; i < 40; i++)
        strbuf_addf(&yaml, "---\n{apiVersion: v1, kind: Pod, metadata: {name: p%d}, spec: {containers: []}}\n", i);
    world_read(&w, yaml.text);
    assert_int_equal(w.notes.left_out.len, 40);
    assert_int_equal(w.notes.warnings.len, 21);
    assert_string_equal(w.notes.warnings.items[20],
                        "further pods are left to other schedulers; 'muster why POD' names the scheduler of a pod");
    strbuf_done(&yaml);
    world_done(&w);
}

static void a_queue_that_leaves_limits_out_has_limits_of_0(void **state)
{
    (void)state;
    warns(QUEUE "metadata: {name: team}\nspec: {resources: {gpu: {quota: 8, limit: -1}}}\n",
          "Queue team: it sets no limit for cpu or memory, which means a limit of 0: pods that request any cannot run; "
          "for no limit, add cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1} to spec.resources\n");
    warns(QUEUE "metadata: {name: team}\nspec: {resources: {gpu: {quota: 8}, cpu: {limit: -1}, memory: {limit: -1}}}\n",
          "Queue team: it sets no limit for gpu, which means a limit of 0: pods that request any cannot run; for no "
          "limit, add gpu: {quota: -1, limit: -1} to spec.resources\n");
    warns(QUEUE "metadata: {name: team}\nspec: {resources: {cpu: {limit: 0}, memory: {limit: -1}}}\n", "");
    warns(ALL, "");
}

static void a_parent_that_does_not_exist_is_named(void **state)
{
    (void)state;
    warns(QUEUE "metadata: {name: team}\nspec: {parentQueue: gone, resources: {" FREE "}}\n",
          "Queue team: its parent gone does not exist, so its workloads wait; create that queue, or remove "
          "parentQueue\n");
}

static void a_priority_class_that_does_not_exist_is_named(void **state)
{
    (void)state;
    warns(ALL POD("a", "schedulerName: kai-scheduler, priorityClassName: urgent, "),
          "Pod team/a: PriorityClass urgent does not exist; train is used instead\n");
    warns(ALL POD("a", "schedulerName: kai-scheduler, priorityClassName: build, "), "");
    warns(ALL "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: g, namespace: team}\n"
              "spec: {queue: all, minMember: 2, priorityClassName: urgent}\n",
          "PodGroup team/g: PriorityClass urgent does not exist; the priority is 50\n"
          "PodGroup team/g: no pod belongs to it; pods join by the annotation pod-group-name: g\n");
    warns(ALL
          "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: g, namespace: team, "
          "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u}]}\nspec: {queue: all, minMember: 2}\n",
          "");
}

static void a_level_that_nodes_have_no_label_for_is_named(void **state)
{
    (void)state;
    warns(ALL "---\n{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: dc}, spec: {levels: "
              "[{nodeLabel: zone}, {nodeLabel: rack}]}}\n"
              "---\n{apiVersion: v1, kind: Node, metadata: {name: a, labels: {zone: z}}}\n"
              "---\n{apiVersion: v1, kind: Node, metadata: {name: b, labels: {zone: z}}}\n",
          "Topology dc: 2 of 2 nodes lack label rack, which the topology needs\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_of_another_scheduler_is_named),
        cmocka_unit_test(many_pods_of_other_schedulers_are_not_all_named),
        cmocka_unit_test(a_queue_that_leaves_limits_out_has_limits_of_0),
        cmocka_unit_test(a_parent_that_does_not_exist_is_named),
        cmocka_unit_test(a_priority_class_that_does_not_exist_is_named),
        cmocka_unit_test(a_level_that_nodes_have_no_label_for_is_named),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
