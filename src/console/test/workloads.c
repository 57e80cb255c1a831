/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "console/policies/policy.h"
#include "console/workloads/kinds.h"
#include "console/workloads/make/inference.h"
#include "console/workloads/make/words.h"
#include "console/workloads/phase.h"
#include "console/workloads/refusals.h"
#include "console/workloads/spec.h"

static void expect_phase(const char *desired, struct workload_facts facts, const char *wanted)
{
    assert_string_equal(workload_phase(desired, &facts), wanted);
}

static void phases_follow_from_what_is_wanted_and_what_there_is(void **state)
{
    (void)state;
    expect_phase(DESIRED_RUNNING, (struct workload_facts){0}, "Creating");
    expect_phase(DESIRED_RUNNING, (struct workload_facts){.has_object = true}, "Pending");
    expect_phase(DESIRED_RUNNING, (struct workload_facts){.has_object = true, .pods = 2}, "Pending");
    expect_phase(DESIRED_RUNNING, (struct workload_facts){.has_object = true, .pods = 2, .scheduled = 1},
                 "Initializing");
    expect_phase(DESIRED_RUNNING, (struct workload_facts){.has_object = true, .pods = 2, .scheduled = 2, .running = 1},
                 "Running");
    expect_phase(DESIRED_RUNNING, (struct workload_facts){.has_object = true, .is_suspended = true}, "Resuming");
    expect_phase(DESIRED_RUNNING,
                 (struct workload_facts){.has_object = true, .is_updating = true, .scheduled = 2, .running = 1},
                 "Updating");
    expect_phase(DESIRED_RUNNING, (struct workload_facts){.has_object = true, .is_degraded = true, .scheduled = 1},
                 "Degraded");
    expect_phase(DESIRED_RUNNING, (struct workload_facts){.has_object = true, .is_degraded = true, .pods = 1},
                 "Pending");
    expect_phase(DESIRED_STOPPED, (struct workload_facts){.has_object = true}, "Stopping");
    expect_phase(DESIRED_STOPPED, (struct workload_facts){.has_object = true, .is_suspended = true, .pods = 1},
                 "Stopping");
    expect_phase(DESIRED_STOPPED, (struct workload_facts){.has_object = true, .is_suspended = true}, "Stopped");
    expect_phase(DESIRED_STOPPED, (struct workload_facts){0}, "Stopped");
    expect_phase(DESIRED_RUNNING, (struct workload_facts){.has_object = true, .has_completed = true}, "Completed");
    expect_phase(DESIRED_RUNNING, (struct workload_facts){.has_object = true, .has_failed = true, .pods = 1}, "Failed");
    expect_phase(DESIRED_DELETED, (struct workload_facts){.has_object = true, .has_failed = true}, "Deleting");
    assert_true(phase_is_end("Completed") && phase_is_end("Failed") && !phase_is_end("Stopped"));
}

/* `wanted` is the list as JSON; NULL: an error. */
static void expect_words(const char *text, const char *wanted)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = NULL;
    struct err err = {0};
    int r = words_split(doc, text, &list, &err);

    assert_int_equal(r, wanted ? 0 : -EINVAL);
    if (wanted) {
        char *found = yyjson_mut_val_write(list, 0, NULL);

        assert_string_equal(found, wanted);
        free(found);
    }
    yyjson_mut_doc_free(doc);
}

static void command_lines_are_split_as_a_shell_splits_them(void **state)
{
    (void)state;
    expect_words("", "[]");
    expect_words("  python \t train.py\n", "[\"python\",\"train.py\"]");
    expect_words("sh -c 'echo \"a b\"; exit 3'", "[\"sh\",\"-c\",\"echo \\\"a b\\\"; exit 3\"]");
    expect_words("\"a 'b'\"c\\ d \"\" \"\\$x\\n\"", "[\"a 'b'c d\",\"\",\"$x\\\\n\"]");
    expect_words("$HOME *", "[\"$HOME\",\"*\"]");
    expect_words("'open", NULL);
    expect_words("\"open", NULL);
    expect_words("end\\", "[\"end\\\\\"]");
}

static yyjson_doc *parse(const char *text)
{
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);

    assert_non_null(doc);
    return doc;
}

static void expect_gpus(const char *text, int64_t devices, double total, int64_t memory)
{
    yyjson_doc *doc = parse(text);
    struct gpu_ask ask = {0};
    struct err err = {0};

    assert_int_equal(spec_gpus(yyjson_doc_get_root(doc), &ask, &err), 0);
    assert_int_equal(ask.devices, devices);
    assert_true(gpu_ask_total(&ask) == total);
    assert_int_equal(ask.memory, memory);
    yyjson_doc_free(doc);
}

static void refuse_gpus(const char *text)
{
    yyjson_doc *doc = parse(text);
    struct gpu_ask ask;
    struct err err = {0};

    assert_int_equal(spec_gpus(yyjson_doc_get_root(doc), &ask, &err), -EINVAL);
    yyjson_doc_free(doc);
}

static void gpus_are_whole_ones_portions_or_memory(void **state)
{
    (void)state;
    expect_gpus("{}", 0, 0, 0);
    expect_gpus("{\"gpuDevicesRequest\": 0, \"gpuPortionRequest\": 0}", 0, 0, 0);
    expect_gpus("{\"gpuDevicesRequest\": 4}", 4, 4, 0);
    expect_gpus("{\"gpuPortionRequest\": 0.5}", 1, 0.5, 0);
    expect_gpus("{\"gpuRequestType\": \"portion\", \"gpuDevicesRequest\": 2, \"gpuPortionRequest\": 0.25}", 2, 0.5, 0);
    expect_gpus("{\"gpuRequestType\": \"memory\", \"gpuMemoryRequest\": \"1Gi\"}", 1, 0, 1LL << 30);
    refuse_gpus("{\"gpuDevicesRequest\": 1, \"gpuPortionRequest\": 0}");
    refuse_gpus("{\"gpuPortionRequest\": 1.5}");
    refuse_gpus("{\"gpuRequestType\": \"memory\"}");
    refuse_gpus("{\"gpuRequestType\": \"portion\", \"gpuMemoryRequest\": \"1Gi\"}");
    refuse_gpus("{\"gpuPortionRequest\": 0.5, \"gpuMemoryRequest\": \"1Gi\"}");
    refuse_gpus("{\"gpuDevicesRequest\": 2, \"gpuMemoryRequest\": \"1Gi\"}");
}

static int refuse(const char *text)
{
    yyjson_doc *doc = parse(text);
    yyjson_val *spec = yyjson_doc_get_root(doc);
    struct err err = {0};
    int r;

    if ((r = refuse_unsupported(spec, &err)) == 0 && (r = refuse_incomplete(spec, &err)) == 0)
        r = refuse_reserved(spec, &err);
    yyjson_doc_free(doc);
    return r;
}

static void what_has_no_effect_is_incomplete_or_reserved_is_refused(void **state)
{
    (void)state;
    assert_int_equal(refuse("{\"exposedUrls\": [], \"createHomeDir\": false, \"nodePools\": [\"a\"]}"), 0);
    assert_int_equal(refuse("{\"exposedUrls\": [{\"container\": 80}]}"), -ENOSYS);
    assert_int_equal(refuse("{\"nodePools\": [\"a\", \"b\"]}"), -ENOSYS);
    assert_int_equal(refuse("{\"restartPolicy\": \"Always\"}"), -ENOSYS);
    assert_int_equal(refuse("{\"storage\": {\"pvc\": [{\"claimName\": \"a\", \"path\": \"/a\"}]}}"), -ENOSYS);
    assert_int_equal(
        refuse("{\"storage\": {\"pvc\": [{\"claimName\": \"a\", \"path\": \"/a\", \"existingPvc\": true}]}}"), 0);
    assert_int_equal(refuse("{\"storage\": {\"nfs\": [{\"server\": \"a\", \"path\": \"/a\"}]}}"), -EINVAL);
    assert_int_equal(refuse("{\"labels\": [{\"name\": \"project\", \"value\": \"other\"}]}"), -EINVAL);
    assert_int_equal(refuse("{\"labels\": [{\"name\": \"kai.scheduler/queue\", \"value\": \"other\"}]}"), -EINVAL);
    assert_int_equal(refuse("{\"annotations\": [{\"name\": \"gpu-fraction\", \"value\": \"0.01\"}]}"), -EINVAL);
    assert_int_equal(
        refuse("{\"compute\": {\"extendedResources\": [{\"resource\": \"nvidia.com/gpu\", \"quantity\": \"8\"}]}}"),
        -EINVAL);
    assert_int_equal(
        refuse(
            "{\"compute\": {\"extendedResources\": [{\"resource\": \"nvidia.com/mig-1g.5gb\", \"quantity\": \"1\"}]}}"),
        0);
    assert_int_equal(refuse("{\"annotations\": [{\"name\": \"kai.scheduler/topology\", \"value\": \"t\"}]}"), 0);
}

static void a_workload_gets_the_defaults_of_its_policy_that_it_has_no_member_for(void **state)
{
    static const char defaults[] =
        "{\"image\": \"base\", \"compute\": {\"gpuDevicesRequest\": 1, \"cpuCoreRequest\": 2},"
        " \"environmentVariables\": {\"instances\": [{\"name\": \"A\", \"value\": \"1\"}, {\"name\": \"B\", \"value\": "
        "\"2\"}]},"
        " \"tolerations\": {\"attributes\": {\"effect\": \"NoSchedule\"}}}";
    static const char given[] = "{\"compute\": {\"gpuDevicesRequest\": 4},"
                                " \"environmentVariables\": [{\"name\": \"A\", \"value\": \"9\"}],"
                                " \"tolerations\": [{\"key\": \"k\"}]}";
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_doc *from = parse(defaults);
    yyjson_doc *to = parse(given);
    yyjson_mut_val *workload = yyjson_val_mut_copy(doc, yyjson_doc_get_root(to));

    (void)state;
    policy_fill(policy_kind_find("training")->fields, doc, yyjson_val_mut_copy(doc, yyjson_doc_get_root(from)),
                workload);
    char *text = yyjson_mut_val_write(workload, 0, NULL);
    assert_string_equal(text,
                        "{\"compute\":{\"gpuDevicesRequest\":4,\"cpuCoreRequest\":2},"
                        "\"environmentVariables\":[{\"name\":\"A\",\"value\":\"9\"},{\"name\":\"B\",\"value\":\"2\"}],"
                        "\"tolerations\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}],\"image\":\"base\"}");
    free(text);
    yyjson_doc_free(from);
    yyjson_doc_free(to);
    yyjson_mut_doc_free(doc);
}

static int check_inference(const char *text)
{
    yyjson_doc *doc = parse(text);
    yyjson_mut_doc *copy = yyjson_doc_mut_copy(doc, NULL);
    struct err err = {0};
    int r = inference_check(yyjson_mut_doc_get_root(copy), &err);

    yyjson_mut_doc_free(copy);
    yyjson_doc_free(doc);
    return r;
}

static void expect_replicas(const char *text, int64_t wanted)
{
    yyjson_doc *doc = parse(text);

    assert_int_equal(inference_replicas(yyjson_doc_get_root(doc)), wanted);
    yyjson_doc_free(doc);
}

static void inference_has_the_replicas_that_it_begins_with_and_no_less_than_one(void **state)
{
    (void)state;
    expect_replicas("{}", 1);
    expect_replicas("{\"autoscaling\": {\"minReplicas\": 0}}", 1);
    expect_replicas("{\"autoscaling\": {\"minReplicas\": 2}}", 2);
    expect_replicas("{\"autoscaling\": {\"minReplicas\": 2, \"initialReplicas\": 3}}", 3);
    assert_int_equal(check_inference("{}"), 0);
    assert_int_equal(check_inference("{\"autoscaling\": {\"minReplicas\": 4}}"), 0);
    assert_int_equal(check_inference("{\"autoscaling\": {\"minReplicas\": 2, \"maxReplicas\": 1}}"), -EINVAL);
    assert_int_equal(check_inference("{\"autoscaling\": {\"minReplicas\": 1, \"maxReplicas\": 2}}"), -EINVAL);
    assert_int_equal(check_inference("{\"autoscaling\": {\"maxReplicas\": 2, \"metric\": \"latency\"}}"), -EINVAL);
    assert_int_equal(check_inference("{\"autoscaling\": {\"maxReplicas\": 2, \"metric\": \"latency\", "
                                     "\"metricThreshold\": 5}}"),
                     0);
    assert_int_equal(check_inference("{\"servingPort\": {\"container\": 80, \"authorizationType\": \"public\"}}"), 0);
    assert_int_equal(
        check_inference("{\"servingPort\": {\"container\": 80, \"authorizationType\": \"authenticatedUsers\"}}"),
        -ENOSYS);
}

static void kinds_have_a_path_and_a_class_of_priority(void **state)
{
    (void)state;
    assert_string_equal(workload_kind_at("/api/v1/workloads/trainings/x/suspend")->type, "training");
    assert_string_equal(workload_kind_at("/api/v1/workloads/workspaces")->type, "workspace");
    assert_null(workload_kind_at("/api/v1/workloads/trainingsx"));
    assert_true(workload_kind_at("/api/v1/workloads/inferences/x")->is_server);
    assert_null(workload_kind_at("/api/v1/workloads/pods"));
    assert_int_equal(workload_priority_find(workload_kind_find("training")->priority)->value, 40);
    assert_int_equal(workload_priority_find(workload_kind_find("workspace")->priority)->value, 125);
    assert_null(workload_priority_find("urgent"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_follow_from_what_is_wanted_and_what_there_is),
        cmocka_unit_test(command_lines_are_split_as_a_shell_splits_them),
        cmocka_unit_test(gpus_are_whole_ones_portions_or_memory),
        cmocka_unit_test(what_has_no_effect_is_incomplete_or_reserved_is_refused),
        cmocka_unit_test(a_workload_gets_the_defaults_of_its_policy_that_it_has_no_member_for),
        cmocka_unit_test(inference_has_the_replicas_that_it_begins_with_and_no_less_than_one),
        cmocka_unit_test(kinds_have_a_path_and_a_class_of_priority),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
