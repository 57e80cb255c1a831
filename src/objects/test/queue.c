/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/test/world.h"

#define QUEUE "apiVersion: scheduling.run.ai/v2\nkind: Queue\n"

static void units_and_defaults_are_kais(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, QUEUE
               "metadata: {name: team}\nspec:\n  parentQueue: all\n  displayName: The Team\n  preemptMinRuntime: 5m\n"
               "  resources:\n"
               "    gpu: {quota: 1.5, limit: -1, overQuotaWeight: 2}\n"
               "    cpu: {quota: 2000, limit: 4000, overQuotaWeight: 1}\n"
               "    memory: {quota: 1000, limit: -1, overQuotaWeight: 1}\n"
               "---\n" QUEUE "metadata: {name: all}\nspec: {priority: 7}\n");
    const struct queue *team = world_queue(&w, "team");
    const struct queue *all = world_queue(&w, "all");
    assert_true(team->deserved[SHARE_GPU] == 1.5 && team->limit[SHARE_GPU] == -1 && team->weight[SHARE_GPU] == 2);
    assert_true(team->deserved[SHARE_CPU] == 2000 && team->limit[SHARE_CPU] == 4000);
    assert_true(team->deserved[SHARE_MEMORY] == 1e9 && team->limit[SHARE_MEMORY] == -1);
    assert_int_equal(team->priority, 100);
    assert_true(team->has_preempt_min_runtime && !team->has_reclaim_min_runtime);
    assert_int_equal(team->preempt_min_runtime, 5 * NSEC_PER_MIN);
    assert_int_equal(team->parent, state_find_queue(w.state, "all"));
    assert_string_equal(world_name(&w, team->display_name), "The Team");
    assert_int_equal(all->priority, 7);
    assert_true(all->deserved[SHARE_GPU] == 0 && all->limit[SHARE_GPU] == 0 && all->weight[SHARE_GPU] == 0);
    assert_string_equal(
        w.notes.warnings.items[0],
        "Queue all: spec.resources is missing, so that all limits are 0 and no pod of the queue can run");
    world_done(&w);
}

static void queues_without_a_hierarchy_hang_under_one(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    w.options.flattens_queues = true;
    world_read(&w, QUEUE "metadata: {name: root}\nspec: {resources: {}}\n---\n" QUEUE
                         "metadata: {name: leaf}\nspec: {parentQueue: root, resources: {}}\n");
    assert_int_equal(state_find_queue(w.state, "root"), NO_ID);
    assert_int_equal(world_queue(&w, "leaf")->parent, state_find_queue(w.state, "default"));
    assert_true(world_queue(&w, "default")->limit[SHARE_GPU] == -1);
    world_done(&w);
}

static void an_input_without_queues_has_those_of_the_chart(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, "{apiVersion: v1, kind: Node, metadata: {name: a}}\n");
    assert_int_equal(world_queue(&w, "default-queue")->parent, state_find_queue(w.state, "default-parent-queue"));
    assert_int_equal(state_priority(w.state, "inference"), 125);
    world_done(&w);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    world_fails(
        QUEUE "metadata: {name: a}\nspec: {preemptMinRuntime: soon, resources: {}}\n",
        "a.yaml:4:27: Queue a: spec.preemptMinRuntime: 'soon' is not a duration; write it as 90s, 1h30m or 500ms");
    world_fails(QUEUE "metadata: {name: a}\nspec: {resources: {gpu: {quota: many}}}\n",
                "a.yaml:4:33: Queue a: spec.resources.gpu.quota: expected a number <= 1e+18, found string");
}

static void classes_and_topologies_are_put(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(
        &w,
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: train}, value: 60}\n---\n"
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: usual}, value: 40, globalDefault: "
        "true}\n---\n"
        "{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: t}, spec: {levels: [{nodeLabel: zone}, "
        "{nodeLabel: rack, alias: r}]}}\n---\n"
        "{apiVersion: kueue.x-k8s.io/v1alpha1, kind: Topology, metadata: {name: k}, spec: {levels: [{nodeLabel: "
        "block}]}}\n");
    assert_int_equal(state_priority(w.state, "train"), 60);
    assert_int_equal(state_priority(w.state, "none"), 40);
    assert_int_equal(w.state->topologies.len, 2);
    assert_int_equal(w.state->topologies.items[0].level_count, 2);
    assert_string_equal(world_name(&w, w.state->topologies.items[0].aliases[1]), "r");
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_and_defaults_are_kais),
        cmocka_unit_test(queues_without_a_hierarchy_hang_under_one),
        cmocka_unit_test(an_input_without_queues_has_those_of_the_chart),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(classes_and_topologies_are_put),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
