/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/kinds.h"

#include "objects/test/groups.h"

#define POD_SPEC "{schedulerName: kai-scheduler, containers: [{name: c}]}"
#define NODE(name, more) "---\n{apiVersion: v1, kind: Node, metadata: {name: " name "}, status: {}" more "}\n"

static void a_daemon_set_has_a_pod_on_each_node(void **state)
{
    (void)state;
    groups_as("apiVersion: apps/v1\nkind: DaemonSet\n" META("d") "\nspec: {" TEMPLATE "}\n" NODE("n-1", "")
                  NODE("n-2", ", spec: {taints: [{key: k, effect: NoExecute}]}")
                      NODE("n-3", ", spec: {taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}")
                          QUEUE,
              "pg-d-daemonset q 50 (-1 default:1): d-n-1=default d-n-3=default\n");
    /* Its own tolerations, and the host's network. */
    groups_as(
        "apiVersion: apps/v1\nkind: DaemonSet\n" META(
            "d") "\nspec: {template: {spec: {schedulerName: kai-scheduler, hostNetwork: true, tolerations: [{key: "
                 "k, value: v}]}}}\n" NODE("n-1", ", spec: {taints: [{key: k, value: v, effect: NoSchedule}]}")
                     NODE("n-2", ", spec: {taints: [{key: k, value: w, effect: NoSchedule}]}")
                         NODE("n-3", ", spec: {taints: [{key: node.kubernetes.io/network-unavailable, effect: "
                                     "NoSchedule}]}") QUEUE,
        "pg-d-daemonset q 50 (-1 default:1): d-n-1=default d-n-3=default\n");
}

static void its_pods_are_tied_to_their_nodes(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, "apiVersion: apps/v1\nkind: DaemonSet\n" META("d") "\nspec: {" TEMPLATE "}\n" NODE("n-1", "") QUEUE);
    const struct pod *pod = world_pod(&w, "default", "d-n-1");
    const struct constraints *constraints = &w.state->constraints.items[pod->constraints];
    assert_int_equal(constraints->node_term_count, 1);
    assert_int_equal(constraints->node_terms[0].all[0].op, MATCH_FIELD_NAME_IN);
    assert_string_equal(world_name(&w, constraints->node_terms[0].all[0].values[0]), "n-1");
    assert_int_equal(constraints->toleration_count, 6);
    world_done(&w);
}

#define WORKFLOW(spec)                                                                                            \
    "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\n" META("w") "\nspec: {schedulerName: kai-scheduler, " spec \
                                                                   "}\n" QUEUE

static void a_workflow_starts_with_its_first_steps(void **state)
{
    (void)state;
    groups_as(WORKFLOW("entrypoint: a, templates: [{name: a, container: {}}]"),
              "pg-w-pod q 50 (-1 default:1): w=default\n");
    groups_as(WORKFLOW("entrypoint: m, templates: [{name: m, steps: [[{name: x, template: a}, {name: y, template: a}], "
                       "[{name: z, template: a}]]}, {name: a, container: {}}]"),
              "pg-w-a-0-pod q 50 (-1 default:1): w-a-0=default\npg-w-a-1-pod q 50 (-1 default:1): w-a-1=default\n");
    /* A group of which no step may run is passed over; a suspended step holds up what comes after it. */
    groups_as(
        WORKFLOW("entrypoint: m, templates: [{name: m, steps: [[{name: x, template: a, when: 1 == 2}], [{name: y, "
                 "template: b}]]}, {name: a, container: {}}, {name: b, script: {}}]"),
        "pg-w-b-0-pod q 50 (-1 default:1): w-b-0=default\n");
    groups_as(WORKFLOW("entrypoint: m, templates: [{name: m, steps: [[{name: x, template: wait}], [{name: y, template: "
                       "a}]]}, {name: wait, suspend: {}}, {name: a, container: {}}]"),
              "");
    groups_as(WORKFLOW("entrypoint: m, templates: [{name: m, dag: {tasks: [{name: x, template: a}, {name: y, template: "
                       "a, dependencies: [x]}, {name: z, template: a, depends: x}]}}, {name: a, container: {}}]"),
              "pg-w-a-0-pod q 50 (-1 default:1): w-a-0=default\n");
}

static void a_workflows_steps_run_as_often_as_they_say(void **state)
{
    static const char three[] = "pg-w-a-0-pod q 50 (-1 default:1): w-a-0=default\npg-w-a-1-pod q 50 (-1 default:1): "
                                "w-a-1=default\npg-w-a-2-pod q 50 (-1 default:1): w-a-2=default\n";

    (void)state;
    groups_as(WORKFLOW("entrypoint: m, templates: [{name: m, steps: [[{name: x, template: a, withItems: [1, b, {c: "
                       "d}]}]]}, {name: a, container: {}}]"),
              three);
    groups_as(
        WORKFLOW("entrypoint: m, templates: [{name: m, steps: [[{name: x, template: a, withSequence: {start: '5', "
                 "end: '3'}}]]}, {name: a, container: {}}]"),
        three);
    groups_as(WORKFLOW("entrypoint: m, arguments: {parameters: [{name: l, value: '[1, 2, 3]'}]}, templates: [{name: m, "
                       "steps: [[{name: x, template: a, withParam: '{{ workflow.parameters.l }}'}]]}, {name: a, "
                       "container: {}}]"),
              three);
    groups_as(WORKFLOW("parallelism: 3, entrypoint: m, templates: [{name: m, steps: [[{name: x, template: a, "
                       "withSequence: {count: 100}}]]}, {name: a, container: {}}]"),
              three);
}

static void a_workflow_that_makes_no_sense_is_refused(void **state)
{
    (void)state;
    world_fails("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec: {entrypoint: none, "
                "templates: []}\n",
                "a.yaml:4:20: Workflow default/w: spec.entrypoint: there is no template called none");
    world_fails("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec: {entrypoint: m, "
                "templates: [{name: m, dag: {tasks: [{name: a, template: m}]}}]}\n",
                "a.yaml:4:20: Workflow default/w: spec.entrypoint: templates call each other, expected at most 64 "
                "levels");
}

/* Each level doubles the text that it hands on: without a bound it would fill the memory. */
static void parameters_cannot_grow_without_end(void **state)
{
    struct strbuf yaml;
    struct world w;

    (void)state;
    strbuf_init(&yaml, 1000000);
    strbuf_addstr(&yaml, "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec:\n  entrypoint: "
                         "t-0\n  templates:\n");
    for (int i = 0; i < 60; i++)
        strbuf_addf(&yaml,
                    "  - {name: t-%d, inputs: {parameters: [{name: p, value: xxxxxxxx}]}, steps: [[{name: s, template: "
                    "t-%d, withSequence: {count: 50}, arguments: {parameters: [{name: p, value: "
                    "'{{inputs.parameters.p}}{{inputs.parameters.p}}'}]}}]]}\n",
                    i, i + 1);
    strbuf_addstr(&yaml, "  - {name: t-60, suspend: {}}\n");
    world_init(&w);
    assert_true(world_try(&w, yaml.text) < 0);
    assert_non_null(
        strstr(w.err.text, "the workflow grows too large, expected at most 100000 steps and 64 MiB of text"));
    world_done(&w);
    strbuf_done(&yaml);
}

static void runs_of_tekton_are_pods(void **state)
{
    (void)state;
    groups_as("apiVersion: tekton.dev/v1\nkind: TaskRun\n" META(
                  "t") "\nspec: {podTemplate: {schedulerName: kai-scheduler}, taskSpec: {steps: [{}]}}\n" QUEUE,
              "pg-t-taskrun q 50 (-1 default:1): t-pod=default\n");
    groups_as(
        "apiVersion: tekton.dev/v1\nkind: PipelineRun\n" META(
            "p") "\nspec: {taskRunTemplate: {podTemplate: {schedulerName: kai-scheduler}}, pipelineSpec: {tasks: "
                 "[{name: a, taskSpec: {steps: [{}]}}, {name: b, taskSpec: {steps: [{}]}, runAfter: [a]}]}}\n" QUEUE,
        "pg-p-pipelinerun q 50 (-1 default:1): p-a-pod=default\n");
    world_fails(
        "apiVersion: tekton.dev/v1\nkind: PipelineRun\nmetadata: {name: p}\nspec: {pipelineSpec: {tasks: [{name: "
        "a, matrix: {params: [{value: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}, {value: [1, 2, 3, 4, 5, 6, 7, 8, 9, "
        "10]}, {value: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}, {value: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}]}}]}}\n",
        "a.yaml:1:1: PipelineRun default/p: tasks[0].matrix: expected at most 10000 combinations");
}

static void workloads_of_run_ai_are_jobs_of_other_kinds(void **state)
{
    (void)state;
    groups_as("apiVersion: run.ai/v1\nkind: RunaiJob\n" META("r") "\nspec: {parallelism: 2, " TEMPLATE "}\n" QUEUE,
              "pg-r-0-runaijob q 50 (-1 default:1): r-0-0=default\npg-r-1-runaijob q 50 (-1 default:1): "
              "r-1-0=default\n");
    groups_as(
        "apiVersion: run.ai/v2alpha1\nkind: InteractiveWorkload\n" META("i") "\nspec: {gpu: {value: '0.5'}}\n" QUEUE,
        "pg-i-0-runaijob q 100 fixed (-1 default:1): i-0-0=default\n");
    groups_as("apiVersion: run.ai/v2alpha1\nkind: DistributedWorkload\n" META(
                  "d") "\nspec: {distributedFramework: {value: MPI}, gpu: {value: 2}, workers: {value: 2}}\n" QUEUE,
              "pg-d-mpijob q 50 (-1 default:3): d-launcher-0=default d-worker-0=default d-worker-1=default\n");
    groups_as(
        "apiVersion: run.ai/v2alpha1\nkind: InferenceWorkload\n" META("s") "\nspec: {minScale: {value: 2}}\n" QUEUE,
        "pg-s-00001-revision q 125 fixed (-1 default:2): s-00001-deployment-0=default "
        "s-00001-deployment-1=default\n");
    world_fails(
        "apiVersion: run.ai/v2alpha1\nkind: DistributedWorkload\nmetadata: {name: d}\nspec: {workers: {value: "
        "2}}\n",
        "a.yaml:4:7: DistributedWorkload default/d: spec: expected distributedFramework to be PyTorch, MPI, TF, "
        "XGBoost or JAX");
    world_fails("apiVersion: run.ai/v2alpha1\nkind: TrainingWorkload\nmetadata: {name: d}\nspec: {parallelism: {value: "
                "-1}}\n",
                "a.yaml:4:21: TrainingWorkload default/d: spec.parallelism: expected a whole number >= 0, found '-1'");
}

static void what_run_ai_asks_for_is_what_its_pods_ask_for(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w,
               "apiVersion: run.ai/v2alpha1\nkind: TrainingWorkload\nmetadata: {name: t, namespace: "
               "runai-team}\nspec: {gpu: {value: '2'}, cpu: {value: '1.5'}, memory: {value: 2Gi}, extendedResources: "
               "{items: {x.com/nic: {value: '3'}}}}\n" QUEUE);
    const struct request *request = world_request(&w, "runai-team", "t-0-0");
    assert_int_equal(world_amount(&w, request, "cpu"), 1500);
    assert_int_equal(world_amount(&w, request, "memory"), INT64_C(2) << 30);
    assert_int_equal(world_amount(&w, request, "x.com/nic"), 3000);
    assert_int_equal(request->gpus, INT64_C(2000000000));
    assert_string_equal(world_name(&w, world_gang(&w, "runai-team", "pg-t-0-runaijob")->queue_name), "team");
    world_done(&w);
}

static void graphs_of_dynamo_are_gangs_of_grove(void **state)
{
    (void)state;
    groups_as("apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: g, annotations: "
              "{nvidia.com/kai-scheduler-queue: q}}\nspec: {services: {Front: {replicas: 2}, Work: {multinode: "
              "{nodeCount: 3}, resources: {limits: {gpu: '1'}}}}}\n" QUEUE,
              "pg-g-0-podgang q 50 (-1 g-0-front:1 g-0-work-0-work-ldr:1 g-0-work-0-work-wkr:2): g-0-front-0=g-0-front "
              "g-0-front-1=g-0-front g-0-work-0-work-ldr-0=g-0-work-0-work-ldr "
              "g-0-work-0-work-wkr-0=g-0-work-0-work-wkr g-0-work-0-work-wkr-1=g-0-work-0-work-wkr\n");
    groups_as("apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeployment\nmetadata: {name: g}\nspec: {components: "
              "[{name: front, podTemplate: {spec: " POD_SPEC "}}]}\n" QUEUE,
              "pg-g-0-podgang dynamo 50 (-1 g-0-front:1): g-0-front-0=g-0-front\n");
    groups_as("apiVersion: grove.io/v1alpha1\nkind: PodClique\n" META("c") "\nspec: {replicas: 2, podSpec: " POD_SPEC
                                                                           "}\n" QUEUE,
              "pg-c-podclique q 50 (-1 default:1): c-0=default c-1=default\n");
}

static void machines_need_more_than_their_guests_see(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\n" META(
                       "v") "\nspec: {schedulerName: kai-scheduler, volumes: [{name: a, containerDisk: {}}, {name: b, "
                            "persistentVolumeClaim: {claimName: b}}], domain: {cpu: {cores: 2, sockets: 2}, memory: "
                            "{guest: 1Gi}, devices: {gpus: [{deviceName: x.com/gpu-card}, {deviceName: "
                            "x.com/gpu-card}]}}}\n" QUEUE);
    const struct request *request = world_request(&w, "default", "virt-launcher-v-0");
    assert_int_equal(world_amount(&w, request, "cpu"), 400);
    assert_int_equal(world_amount(&w, request, "memory"), (INT64_C(1024) + 2 + 244 + 32 + 1024) << 20);
    assert_int_equal(world_amount(&w, request, "x.com/gpu-card"), 2000);
    world_done(&w);
}

static void every_kind_that_becomes_pods_says_how(void **state)
{
    static const char *const without[] = {"Pod", "DistributedInferenceWorkload", "SPOTRequest", "AmlJob"};

    (void)state;
    for (size_t i = 0; object_kind_at(i); i++) {
        const struct object_kind *kind = object_kind_at(i);
        bool is_known = !kind->group_pods || kind->make;

        for (size_t j = 0; j < ARRAY_LEN(without); j++)
            is_known |= strcmp(kind->kind, without[j]) == 0;
        if (!is_known)
            fail_msg("%s is grouped, but nothing makes its pods", kind->kind);
    }
}

/* What KAI's grouper has no rule for is a Karta's, where there is one. */
static void kinds_without_a_rule_are_left_to_kartas(void **state)
{
    static const struct {
        const char *group;
        const char *kind;
    } kinds[] = {{"apps", "DaemonSet"},
                 {"", "ReplicationController"},
                 {"grove.io", "PodClique"},
                 {"kubevirt.io", "VirtualMachine"},
                 {"argoproj.io", "CronWorkflow"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        assert_null(object_kind_of(kinds[i].group, kinds[i].kind)->group_pods);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_daemon_set_has_a_pod_on_each_node),
        cmocka_unit_test(its_pods_are_tied_to_their_nodes),
        cmocka_unit_test(a_workflow_starts_with_its_first_steps),
        cmocka_unit_test(a_workflows_steps_run_as_often_as_they_say),
        cmocka_unit_test(a_workflow_that_makes_no_sense_is_refused),
        cmocka_unit_test(parameters_cannot_grow_without_end),
        cmocka_unit_test(runs_of_tekton_are_pods),
        cmocka_unit_test(workloads_of_run_ai_are_jobs_of_other_kinds),
        cmocka_unit_test(what_run_ai_asks_for_is_what_its_pods_ask_for),
        cmocka_unit_test(graphs_of_dynamo_are_gangs_of_grove),
        cmocka_unit_test(machines_need_more_than_their_guests_see),
        cmocka_unit_test(every_kind_that_becomes_pods_says_how),
        cmocka_unit_test(kinds_without_a_rule_are_left_to_kartas),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
