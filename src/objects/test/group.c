/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/group/group.h"

#include "objects/test/groups.h"

static void a_plain_pod_is_its_own_group(void **state)
{
    (void)state;
    groups_as("apiVersion: v1\nkind: Pod\n" META("p") "\nspec: {schedulerName: kai-scheduler}\n" QUEUE,
              "pg-p-pod q 50 (-1 default:1): p=default\n");
    groups_as(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, uid: u-1, labels: {project: a, kai.scheduler/node-pool: b}}\n"
        "spec: {schedulerName: kai-scheduler, priorityClassName: build}\n" QUEUE,
        "pg-p-u-1 a-b 100 fixed (-1 default:1): p=default\n");
    groups_as("apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {priorityClassName: none, "
              "kai.scheduler/preemptibility: "
              "non-preemptible}}\nspec: {schedulerName: kai-scheduler}\n" QUEUE,
              "pg-p-pod default-queue 50 fixed (-1 default:1): p=default\n");
}

#define TEN "abcdefghi-"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define LONG_POD(end)                                                                                              \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " HUNDRED HUNDRED TEN TEN TEN TEN TEN end ", uid: u-1, labels: {" \
    "kai.scheduler/queue: q}}\nspec: {schedulerName: kai-scheduler}\n"

static const char *name_of_gang(const char *yaml, char name[static 300])
{
    struct world w;

    world_init(&w);
    world_read(&w, yaml);
    assert_int_equal(w.state->gangs.len, 1);
    (void)snprintf(name, 300, "%s", world_name(&w, w.state->gangs.items[0].name));
    world_done(&w);
    return name;
}

static void a_pod_with_the_longest_name_has_a_group_whose_name_fits(void **state)
{
    char one[300], other[300], again[300];

    (void)state;
    (void)name_of_gang(LONG_POD("001") QUEUE, one);
    (void)name_of_gang(LONG_POD("002") QUEUE, other);
    (void)name_of_gang(LONG_POD("001") QUEUE, again);
    assert_true(strlen(one) <= 253);
    assert_int_equal(strncmp(one, "pg-" HUNDRED HUNDRED TEN TEN TEN "abc", 236), 0);
    assert_string_equal(one, again);
    assert_string_not_equal(one, other);
}

static void pods_that_have_a_group_or_want_none_are_left_alone(void **state)
{
    (void)state;
    groups_as(
        "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: g}\nspec: {queue: q, minMember: 2}\n"
        "---\n{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {pod-group-name: g}}, spec: {schedulerName: "
        "kai-scheduler}}\n"
        "---\n{apiVersion: v1, kind: Pod, metadata: {name: b, annotations: {kai.scheduler/skip-podgrouper: 'true'}}, "
        "spec: "
        "{schedulerName: kai-scheduler}}\n" QUEUE,
        "g q 50 (-1 default:2): a=default\n");
}

static void jobs_and_replicas_become_pods(void **state)
{
    (void)state;
    groups_as("apiVersion: batch/v1\nkind: Job\n" META("j") "\nspec: {parallelism: 3, completions: 2, " TEMPLATE
                                                            "}\n" QUEUE,
              "pg-j-job q 50 (-1 default:1): j-0=default j-1=default\n");
    groups_as("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, annotations: {kai.scheduler/batch-min-member: "
              "'2'}, labels: "
              "{kai.scheduler/queue: q}}\nspec: {parallelism: 2, " TEMPLATE "}\n" QUEUE,
              "pg-j-job q 50 (-1 default:2): j-0=default j-1=default\n");
    groups_as("apiVersion: batch/v1\nkind: Job\n" META("j") "\nspec: {suspend: true, " TEMPLATE "}\n" QUEUE, "");
    groups_as(
        "apiVersion: apps/v1\nkind: Deployment\n" META("d") "\nspec: {replicas: 2, " TEMPLATE "}\n" QUEUE,
        "pg-d-0-pod q 125 fixed (-1 default:1): d-0=default\npg-d-1-pod q 125 fixed (-1 default:1): d-1=default\n");
    groups_as("apiVersion: apps/v1\nkind: StatefulSet\n" META("s") "\nspec: {replicas: 2, " TEMPLATE "}\n" QUEUE,
              "pg-s-statefulset q 50 (-1 default:1): s-0=default s-1=default\n");
    groups_as("apiVersion: kubeflow.org/v1beta1\nkind: Notebook\n" META("nb") "\nspec: {" TEMPLATE "}\n" QUEUE,
              "pg-nb-notebook q 100 fixed (-1 default:1): nb-0=default\n");
}

static void workloads_whose_pods_are_there_make_no_more(void **state)
{
    (void)state;
    groups_as("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, uid: u-1, labels: {kai.scheduler/queue: q}}\nspec: "
              "{parallelism: 3, " TEMPLATE "}\n"
              "---\napiVersion: v1\nkind: Pod\nmetadata: {name: j-abc, ownerReferences: [{apiVersion: batch/v1, kind: "
              "Job, name: j, "
              "uid: u-1}]}\nspec: {schedulerName: kai-scheduler}\n" QUEUE,
              "pg-j-u-1 q 50 (-1 default:1): j-abc=default\n");
    /* Its ReplicaSet is not in the input, so that it is taken for a Deployment's: each pod is a group. */
    groups_as("apiVersion: v1\nkind: Pod\nmetadata: {name: a, uid: u-a, ownerReferences: [{apiVersion: apps/v1, kind: "
              "ReplicaSet, name: "
              "r, uid: u-r}], labels: {kai.scheduler/queue: q}}\nspec: {schedulerName: kai-scheduler}\n" QUEUE,
              "pg-a-u-a q 125 fixed (-1 default:1): a=default\n");
    groups_as("apiVersion: v1\nkind: Pod\nmetadata: {name: a, ownerReferences: [{apiVersion: x.com/v1, kind: Odd, "
              "name: o, uid: u-o}], "
              "labels: {kai.scheduler/queue: q}}\nspec: {schedulerName: kai-scheduler}\n" QUEUE,
              "pg-o-u-o q 50 (-1 default:1): a=default\n");
}

static void training_jobs_are_gangs(void **state)
{
    (void)state;
    groups_as(
        "apiVersion: kubeflow.org/v1\nkind: TFJob\n" META("t") "\nspec: {tfReplicaSpecs: {PS: {replicas: 1, " TEMPLATE
                                                               "}, Worker: {replicas: 2, " TEMPLATE "}}}\n" QUEUE,
        "pg-t-tfjob q 50 (-1 default:3): t-ps-0=default t-worker-0=default t-worker-1=default\n");
    groups_as("apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\n" META(
                  "m") "\nspec: {launcherCreationPolicy: WaitForWorkersReady, mpiReplicaSpecs: {Launcher: {replicas: "
                       "1, " TEMPLATE "}, Worker: {replicas: 2, " TEMPLATE "}}}\n" QUEUE,
              "pg-m-mpijob q 50 (-1 default:2): m-worker-0=default m-worker-1=default\n");
    groups_as("apiVersion: kubeflow.org/v1\nkind: XGBoostJob\n" META(
                  "x") "\nspec: {runPolicy: {schedulingPolicy: {minAvailable: 1}}, xgbReplicaSpecs: {Master: {" TEMPLATE
                       "}, Worker: {" TEMPLATE "}}}\n" QUEUE,
              "pg-x-xgboostjob q 50 (-1 default:1): x-master-0=default x-worker-0=default\n");
    groups_as("apiVersion: kubeflow.org/v1\nkind: PyTorchJob\n" META(
                  "p") "\nspec: {elasticPolicy: {minReplicas: 2}, pytorchReplicaSpecs: {Master: {replicas: 1, " TEMPLATE
                       "}, Worker: {replicas: "
                       "3, " TEMPLATE "}}}\n" QUEUE,
              "pg-p-pytorchjob q 50 (-1 master:1 worker:1): p-master-0=master p-worker-0=worker p-worker-1=worker "
              "p-worker-2=worker\n");
}

static void workers_are_cut_into_segments(void **state)
{
    (void)state;
    groups_as(
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\n" META(
            "p") "\nspec:\n  pytorchReplicaSpecs:\n    Worker:\n      replicas: 5\n      template:\n        metadata: "
                 "{annotations: "
                 "{kai.scheduler/segment-size: '2', kai.scheduler/topology: t, "
                 "kai.scheduler/segment-topology-required-placement: "
                 "rack}}\n        spec: {schedulerName: kai-scheduler}\n" QUEUE,
        "pg-p-pytorchjob q 50 (-1 worker(3 worker-0:2 worker-1:2 worker-2:1)): p-worker-0=worker-0 p-worker-1=worker-0 "
        "p-worker-2=worker-1 p-worker-3=worker-1 p-worker-4=worker-2\n");
    groups_as(
        "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\n" META(
            "l") "\nspec: {leaderWorkerTemplate: {size: 5, subGroupPolicy: {subGroupSize: 2}, worker"
                 "Template: {spec: {schedulerName: "
                 "kai-scheduler}}}}\n" QUEUE,
        "pg-l-leaderworkerset-group-0 q 50 (-1 segment-0(2 leader:1 workers:2) segment-1:2): l-0=leader l-0-1=workers "
        "l-0-2=workers l-0-3=segment-1 l-0-4=segment-1\n");
    groups_as(
        "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\n" META(
            "l") "\nspec: {leaderWorkerTemplate: {size: 3, subGroupPolicy: {subGroupSize: 2, subGroupPolicyType: "
                 "LeaderExcluded}, "
                 "workerTemplate: {spec: {schedulerName: kai-scheduler}}}}\n" QUEUE,
        "pg-l-leaderworkerset-group-0 q 50 (-1 leader:1 segment-0:2): l-0=leader l-0-1=segment-0 l-0-2=segment-0\n");
}

static void sets_of_jobs_are_trees(void **state)
{
    (void)state;
    groups_as("apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\n" META(
                  "l") "\nspec: {replicas: 2, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {schedulerName: "
                       "kai-scheduler}}}}\n" QUEUE,
              "pg-l-leaderworkerset-group-0 q 50 (-1 leader:1 workers:1): l-0=leader l-0-1=workers\n"
              "pg-l-leaderworkerset-group-1 q 50 (-1 leader:1 workers:1): l-1=leader l-1-1=workers\n");
    groups_as("apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\n" META(
                  "l") "\nspec: {startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: "
                       "{schedulerName: "
                       "kai-scheduler}}}}\n" QUEUE,
              "pg-l-leaderworkerset-group-0 q 50 (-1 leader:1): l-0=leader\n");
    groups_as("apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n" META(
                  "s") "\nspec: {replicatedJobs: [{name: a, replicas: 2, template: {spec: {parallelism: 2, " TEMPLATE
                       "}}}, {name: b, template: {spec: {" TEMPLATE "}}}]}\n" QUEUE,
              "pg-s-jobset q 50 (2 a(2 a-replica-0:2 a-replica-1:2) b(1 b-replica-0:1)): s-a-0-0=a-replica-0 "
              "s-a-0-1=a-replica-0 "
              "s-a-1-0=a-replica-1 s-a-1-1=a-replica-1 s-b-0-0=b-replica-0\n");
    groups_as(
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n" META(
            "t") "\nspec: {runtimeRef: {name: torch}, trainer: {numNodes: 2, resourcesPerNode: {requests: {cpu: 1}}}}\n"
                 "---\n{apiVersion: trainer.kubeflow.org/v1alpha1, kind: ClusterTrainingRuntime, metadata: {name: "
                 "torch}, spec: {template: "
                 "{spec: {replicatedJobs: [{name: node, template: {spec: {" TEMPLATE "}}}]}}}}\n" QUEUE,
        "pg-t-jobset q 50 (1 node(1 node-replica-0:2)): t-node-0-0=node-replica-0 t-node-0-1=node-replica-0\n");
}

static void ray_clusters_are_gangs_of_groups(void **state)
{
    (void)state;
    groups_as("apiVersion: ray.io/v1\nkind: RayCluster\n" META(
                  "r") "\nspec: {headGroupSpec: {" TEMPLATE
                       "}, workerGroupSpecs: [{groupName: w, replicas: 2, minReplicas: 1, " TEMPLATE
                       "}, {groupName: idle, replicas: 0, " TEMPLATE "}]}\n" QUEUE,
              "pg-r-raycluster q 50 (-1 headgroup:1 w:1): r-head=headgroup r-w-worker-0=w r-w-worker-1=w\n");
    groups_as("apiVersion: ray.io/v1\nkind: RayJob\n" META(
                  "j") "\nspec: {rayClusterSpec: {headGroupSpec: {" TEMPLATE
                       "}, workerGroupSpecs: [{groupName: w, replicas: 1, numOfHosts: 2, " TEMPLATE "}]}}\n" QUEUE,
              "pg-j-rayjob q 50 (-1 headgroup:1 w:2): j-cluster-head=headgroup j-cluster-w-worker-0=w "
              "j-cluster-w-worker-1=w\n");
}

static void services_start_at_their_smallest_scale(void **state)
{
    (void)state;
    groups_as(
        "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: k}\nspec: {template: {metadata: "
        "{annotations: "
        "{autoscaling.knative.dev/min-scale: '2'}, labels: {kai.scheduler/queue: q}}, spec: {schedulerName: "
        "kai-scheduler}}}\n" QUEUE,
        "pg-k-00001-revision q 125 fixed (-1 default:2): k-00001-deployment-0=default k-00001-deployment-1=default\n");
    groups_as("apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\n" META(
                  "g") "\nspec: {template: {cliques: [{name: front, spec: {replicas: 2, minAvailable: 1, podSpec: "
                       "{schedulerName: kai-scheduler}}}, "
                       "{name: back, spec: {replicas: 1, podSpec: {schedulerName: kai-scheduler}}}], "
                       "podCliqueScalingGroups: [{name: sg, "
                       "cliqueNames: [back], replicas: 2, minAvailable: 1}]}}\n" QUEUE,
              "pg-g-0-podgang q 50 (-1 g-0-front:1 g-0-sg-0-back:1): g-0-front-0=g-0-front g-0-front-1=g-0-front "
              "g-0-sg-0-back-0=g-0-sg-0-back\n"
              "pg-g-0-sg-0-podgang q 50 (-1 g-0-sg-1-back:1): g-0-sg-1-back-0=g-0-sg-1-back\n");
    groups_as("apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\n" META(
                  "s") "\nspec: {driver: {cores: 1, memory: 1g, schedulerName: kai-scheduler}, executor: {instances: "
                       "2, schedulerName: "
                       "kai-scheduler}}\n" QUEUE,
              "pg-s-sparkapplication q 50 (-1 default:1): s-driver=default s-exec-1=default s-exec-2=default\n");
}

static void what_the_grouper_would_refuse_is_named(void **state)
{
    (void)state;
    world_fails("apiVersion: kubeflow.org/v1\nkind: XGBoostJob\nmetadata: {name: x}\nspec: {xgbReplicaSpecs: {Worker: "
                "{" TEMPLATE "}}}\n",
                "a.yaml:4:25: XGBoostJob default/x: spec.xgbReplicaSpecs.Master: is missing");
    world_fails("apiVersion: batch/v1\nkind: Job\nmetadata: {name: x, annotations: {kai.scheduler/batch-min-member: "
                "two}}\nspec: {" TEMPLATE "}\n",
                "a.yaml:3:67: Job default/x: metadata.annotations[\"kai.scheduler/batch-min-member\"]: expected a "
                "whole number >= 0, "
                "found 'two'");
    world_fails("apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec: {parallelism: 2000000000, " TEMPLATE "}\n",
                "a.yaml:1:1: Job default/x: the workloads of the input become too many pods, expected at most 200000");
}

static void pods_that_leave_the_scheduler_open_are_not_ours(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(
        &w,
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec: {parallelism: 5, template: {spec: {}}}\n" QUEUE);
    assert_int_equal(w.state->pods.len, 0);
    assert_int_equal(w.notes.warnings.len, 1);
    assert_string_equal(w.notes.warnings.items[0],
                        "Job default/x: its pods are left to default-scheduler; to schedule them here, set "
                        "schedulerName: kai-scheduler");
    assert_int_equal(w.notes.left_out.len, 1);
    assert_string_equal(w.notes.left_out.items[0].kind, "Job");
    assert_string_equal(w.notes.left_out.items[0].scheduler, "default-scheduler");
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_pod_is_its_own_group),
        cmocka_unit_test(a_pod_with_the_longest_name_has_a_group_whose_name_fits),
        cmocka_unit_test(pods_that_have_a_group_or_want_none_are_left_alone),
        cmocka_unit_test(jobs_and_replicas_become_pods),
        cmocka_unit_test(workloads_whose_pods_are_there_make_no_more),
        cmocka_unit_test(training_jobs_are_gangs),
        cmocka_unit_test(workers_are_cut_into_segments),
        cmocka_unit_test(sets_of_jobs_are_trees),
        cmocka_unit_test(ray_clusters_are_gangs_of_groups),
        cmocka_unit_test(services_start_at_their_smallest_scale),
        cmocka_unit_test(what_the_grouper_would_refuse_is_named),
        cmocka_unit_test(pods_that_leave_the_scheduler_open_are_not_ours),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
