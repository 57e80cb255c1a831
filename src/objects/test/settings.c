/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/settings/settings.h"

#include "objects/snapshot.h"
#include "objects/test/world.h"

static void read_settings(struct world *w, struct settings *settings, const char *yaml)
{
    world_init(w);
    settings_init(settings);
    if (world_try(w, yaml) < 0 || settings_decode_set(settings, &w->set, NULL, &w->err) < 0)
        fail_msg("%s", w->err.text);
    settings_sort(settings);
}

static void done(struct world *w, struct settings *settings)
{
    settings_done(settings);
    world_done(w);
}

static const struct plugin_setting *plugin(const struct settings *settings, const char *name)
{
    for (uint32_t i = 0; i < settings->plugins.len; i++) {
        if (strcmp(settings->plugins.items[i].name, name) == 0)
            return &settings->plugins.items[i];
    }
    fail_msg("there is no plugin %s", name);
    return NULL;
}

static const char *argument(const struct settings *settings, const char *name, const char *key)
{
    const struct plugin_setting *found = plugin(settings, name);

    for (uint32_t i = 0; i < found->arguments.len; i++) {
        if (strcmp(found->arguments.items[i].key, key) == 0)
            return found->arguments.items[i].value;
    }
    return "";
}

static void an_empty_shard_has_the_operators_defaults(void **state)
{
    (void)state;
    struct settings settings;
    struct world w;

    read_settings(&w, &settings, "{apiVersion: kai.scheduler/v1, kind: SchedulingShard, metadata: {name: default}}\n");
    assert_string_equal(settings.plugins.items[0].name, "predicates");
    assert_string_equal(settings.plugins.items[21].name, "gpusharingorder");
    assert_true(plugin(&settings, "podaffinity")->is_enabled);
    assert_false(plugin(&settings, "gpuspread")->is_enabled);
    assert_string_equal(argument(&settings, "nodeplacement", "gpu"), "binpack");
    assert_string_equal(settings.actions.items[0].name, "allocate");
    assert_true(settings.objects.has_partition);
    assert_string_equal(settings.objects.partition, "");
    assert_int_equal(settings.max_consolidation_preemptees, 16);
    done(&w, &settings);
}

static void a_shard_overrides_field_by_field(void **state)
{
    (void)state;
    struct settings settings;
    struct world w;

    read_settings(&w, &settings,
                  "apiVersion: kai.scheduler/v1\nkind: SchedulingShard\nmetadata: {name: red}\nspec:\n"
                  "  partitionLabelValue: red\n  placementStrategy: {gpu: spread}\n  kValue: 0.5\n"
                  "  minRuntime: {preemptMinRuntime: 5m}\n  queueDepthPerAction: {reclaim: 10}\n"
                  "  scenarioSearchBudgets: {maxJobSearchDuration: 1m, maxActionSearchDuration: {reclaim: 30s}}\n"
                  "  plugins: {elastic: {enabled: false}, numa: {}, minruntime: {arguments: {reclaimResolveMethod: "
                  "queue}}, topology: "
                  "{priority: 2000}}\n"
                  "  actions: {preempt: {priority: 450}}\n"
                  "  args: {use-scheduling-signatures: 'false', max-consolidation-preemptees: '4', v: '7'}\n"
                  "---\n{apiVersion: kai.scheduler/v1, kind: Config, metadata: {name: kai-config}, spec: {global: "
                  "{schedulerName: mine, "
                  "queueLabelKey: team/queue}}}\n");
    assert_string_equal(settings.objects.partition, "red");
    assert_string_equal(settings.plugins.items[0].name, "topology");
    assert_true(plugin(&settings, "gpuspread")->is_enabled);
    assert_false(plugin(&settings, "gpupack")->is_enabled);
    assert_false(plugin(&settings, "elastic")->is_enabled);
    assert_true(plugin(&settings, "numa")->is_enabled);
    assert_string_equal(argument(&settings, "proportion", "kValue"), "0.5");
    assert_string_equal(argument(&settings, "minruntime", "reclaimResolveMethod"), "queue");
    assert_string_equal(argument(&settings, "minruntime", "defaultPreemptMinRuntime"), "");
    assert_string_equal(settings.actions.items[1].name, "preempt");
    assert_string_equal(settings.actions.items[2].name, "consolidation");
    assert_false(settings.actions.items[2].is_enabled);
    assert_int_equal(settings.queue_depths.items[0].value, 10);
    assert_int_equal(settings.job_budget, NSEC_PER_MIN);
    assert_int_equal(settings.action_budgets.len, 2);
    assert_false(settings.uses_signatures);
    assert_int_equal(settings.max_consolidation_preemptees, 4);
    assert_string_equal(settings.objects.scheduler_name, "mine");
    assert_string_equal(settings.objects.queue_label, "team/queue");
    done(&w, &settings);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    struct settings settings;
    struct world w;

    world_init(&w);
    settings_init(&settings);
    assert_int_equal(
        world_try(&w, "apiVersion: kai.scheduler/v1\nkind: SchedulingShard\nmetadata: {name: s}\nspec:\n  args:\n"
                      "    use-scheduling-signatures: perhaps\n"),
        0);
    assert_true(settings_decode_set(&settings, &w.set, NULL, &w.err) < 0);
    assert_string_equal(w.err.text,
                        "a.yaml:6:32: SchedulingShard s: spec.args.use-scheduling-signatures: expected true or false, "
                        "found 'perhaps'");
    assert_true(settings_decode_set(&settings, &w.set, "other", &w.err) < 0);
    assert_string_equal(w.err.text, "there is no SchedulingShard called other");
    done(&w, &settings);
}

static void a_snapshot_has_settings_and_objects(void **state)
{
    (void)state;
    static const char text[] = "{\"config\": {\"actions\": \"allocate, reclaim\", \"tiers\": [{\"plugins\": "
                               "[{\"name\": \"proportion\", \"arguments\": {\"kValue\": "
                               "\"2\"}}, {\"name\": \"priority\"}]}]},\n"
                               "\"schedulerParams\": {\"schedulerName\": \"mine\", \"partitionParams\": "
                               "{\"NodePoolLabelKey\": \"pool\", \"NodePoolLabelValue\": "
                               "\"\"}, \"maxNumberConsolidationPreemptees\": 7},\n"
                               "\"rawObjects\": {\"pods\": [{\"metadata\": {\"name\": \"p\", \"namespace\": \"a\", "
                               "\"annotations\": {\"pod-group-name\": \"g\"}}, "
                               "\"spec\": {\"schedulerName\": \"mine\"}}], \"nodes\": null, \"podGroups\": "
                               "[{\"metadata\": {\"name\": \"g\", \"namespace\": "
                               "\"a\"}, \"spec\": {\"queue\": \"q\"}}]}}";
    struct object_source source = {.name = "s.zip", .is_snapshot = true};
    struct object_reader reader;
    struct settings settings;
    struct world w;
    yyjson_doc *doc = NULL;

    world_init(&w);
    settings_init(&settings);
    assert_int_equal(json_parse(text, strlen(text), "s.zip", &doc, &w.err), 0);
    assert_true(snapshot_is(yyjson_doc_get_root(doc)));
    assert_int_equal(snapshot_add(&w.set, &settings, yyjson_doc_get_root(doc), &source, &w.err), 0);
    settings_sort(&settings);
    assert_int_equal(settings.plugins.len, 2);
    assert_string_equal(settings.plugins.items[0].name, "proportion");
    assert_int_equal(settings.actions.len, 2);
    assert_string_equal(settings.actions.items[1].name, "reclaim");
    assert_int_equal(settings.max_consolidation_preemptees, 7);
    assert_false(settings.uses_signatures);
    assert_int_equal(settings.job_budget, 0);

    settings_to_options(&settings, &w.options);
    w.options.is_whole = true;
    object_reader_init(&reader, w.state, &w.options, &w.set, &w.notes);
    assert_int_equal(object_set_decode(&w.set, &reader, &w.err), 0);
    object_reader_done(&reader);
    assert_int_equal(world_pod(&w, "a", "p")->gang, state_find_gang(w.state, "a", "g"));
    assert_int_equal(state_find_queue(w.state, "default-queue"), NO_ID);
    yyjson_doc_free(doc);
    done(&w, &settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_shard_has_the_operators_defaults),
        cmocka_unit_test(a_shard_overrides_field_by_field),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(a_snapshot_has_settings_and_objects),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
