/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/test/world.h"

#define GROUP "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: g, namespace: team}\n"

static void makes_tree(const char *spec, const char *expected)
{
    struct world w;
    struct strbuf text;
    struct strbuf yaml;

    strbuf_init(&text, 10000);
    strbuf_init(&yaml, 10000);
    strbuf_addf(&yaml, GROUP "spec: %s\n", spec);
    world_init(&w);
    w.options.is_strict = false;
    world_read(&w, yaml.text);
    world_tree(&w, world_gang(&w, "team", "g"), 0, &text);
    assert_string_equal(text.text, expected);
    world_done(&w);
    strbuf_done(&text);
    strbuf_done(&yaml);
}

static void subgroups_become_a_tree(void **state)
{
    (void)state;
    makes_tree("{}", "(-1 default:1)");
    makes_tree("{minMember: 4}", "(-1 default:4)");
    makes_tree("{minMember: 0}", "(-1 default:0)");
    makes_tree("{minSubGroup: 1, subGroups: [{name: a, minMember: 2}, {name: b}]}", "(1 a:2 b:0)");
    makes_tree("{subGroups: [{name: leaf, parent: Mid, minMember: 3}, {name: mid, minSubGroup: 1}]}",
               "(-1 mid(1 leaf:3))");
}

static void what_is_no_tree_is_one_set(void **state)
{
    (void)state;
    makes_tree("{minMember: 5, subGroups: [{name: a, parent: none}]}", "(-1 default:1)");
    makes_tree("{subGroups: [{name: a}, {name: a}]}", "(-1 default:1)");
    makes_tree("{subGroups: [{name: a, parent: b}, {name: b, parent: a}]}", "(-1 default:1)");
    world_fails(
        GROUP "spec:\n  subGroups:\n  - {name: a, parent: none}\n",
        "a.yaml:6:3: PodGroup team/g: spec.subGroups: expected a tree: different names, and parents that exist");
    world_fails(GROUP "spec: {minMember: 1, minSubGroup: 1}\n",
                "a.yaml:4:7: PodGroup team/g: spec: minMember and minSubGroup cannot be used together");
}

static void fields_are_read(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(
        &w, "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata:\n  name: g\n  namespace: team\n"
            "  creationTimestamp: 2026-03-01T12:00:00Z\n  annotations:\n"
            "    kai.scheduler/last-start-timestamp: 2026-03-01T12:00:01Z\n    kai.scheduler/stale-podgroup-timestamp: "
            "never\n"
            "spec:\n  queue: q\n  priorityClassName: build\n  preemptionDelay: 10s\n  stalenessGracePeriod: -1s\n"
            "  topologyConstraint: {topology: t, requiredTopologyLevel: zone, preferredTopologyLevel: rack}\n"
            "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: h, namespace: team}, spec: "
            "{priorityClassName: build, preemptibility: preemptible}}\n");
    const struct gang *gang = world_gang(&w, "team", "g");
    assert_string_equal(world_name(&w, gang->queue_name), "q");
    assert_int_equal(gang->priority, 100);
    assert_false(gang->is_preemptible);
    assert_true(world_gang(&w, "team", "h")->is_preemptible);
    assert_int_equal(gang->last_start - gang->created, NSEC_PER_SEC);
    assert_int_equal(gang->stale_since, 0);
    assert_int_equal(gang->preemption_delay, 10 * NSEC_PER_SEC);
    assert_true(gang->has_grace && gang->staleness_grace == -NSEC_PER_SEC);
    assert_string_equal(world_name(&w, gang->groups[0].topology.topology), "t");
    assert_string_equal(world_name(&w, gang->groups[0].topology.required), "zone");
    world_done(&w);
}

static void a_group_that_has_backed_off_is_left_out(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, GROUP
               "spec: {schedulingBackoff: 1}\nstatus: {schedulingConditions: [{transitionID: '2', nodePool: default}, "
               "{transitionID: '1', nodePool: red}]}\n");
    assert_int_equal(state_find_gang(w.state, "team", "g"), NO_ID);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subgroups_become_a_tree),
        cmocka_unit_test(what_is_no_tree_is_one_set),
        cmocka_unit_test(fields_are_read),
        cmocka_unit_test(a_group_that_has_backed_off_is_left_out),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
