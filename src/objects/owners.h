/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct err;
struct grouping;
struct maker;
struct object;

/*
 * What each kind of owner has of its own, for its row in kinds.c: how its pods are grouped (group/rules.h) and which
 * objects a controller would make of it (make/maker.h). All return 0 or a negative errno.
 */

/* The rules by kind of the top owner. */
int group_default(struct grouping *g, struct err *err);
int group_plain_pod(struct grouping *g, struct err *err);
int group_deployment(struct grouping *g, struct err *err);
int group_job(struct grouping *g, struct err *err);
int group_cron_job(struct grouping *g, struct err *err);
int group_notebook(struct grouping *g, struct err *err);
int group_inference(struct grouping *g, struct err *err);
int group_aml_job(struct grouping *g, struct err *err);
int group_runai_job(struct grouping *g, struct err *err);
int group_below_top(struct grouping *g, struct err *err);
int group_kubeflow(struct grouping *g, struct err *err);
int group_pytorch(struct grouping *g, struct err *err);
int group_ray(struct grouping *g, struct err *err);
int group_knative(struct grouping *g, struct err *err);
int group_leader_worker_set(struct grouping *g, struct err *err);
int group_job_set(struct grouping *g, struct err *err);
int group_grove(struct grouping *g, struct err *err);

/* The makers by kind. */
int make_job(struct maker *maker, const struct object *owner, struct err *err);
int make_replicas(struct maker *maker, const struct object *owner, struct err *err);
int make_stateful_set(struct maker *maker, const struct object *owner, struct err *err);
int make_notebook(struct maker *maker, const struct object *owner, struct err *err);
int make_daemon_set(struct maker *maker, const struct object *owner, struct err *err);
int make_nothing(struct maker *maker, const struct object *owner, struct err *err);
int make_kubeflow(struct maker *maker, const struct object *owner, struct err *err);
int make_ray_cluster(struct maker *maker, const struct object *owner, struct err *err);
int make_ray_wrapper(struct maker *maker, const struct object *owner, struct err *err);
int make_job_set(struct maker *maker, const struct object *owner, struct err *err);
int make_leader_worker_set(struct maker *maker, const struct object *owner, struct err *err);
int make_knative(struct maker *maker, const struct object *owner, struct err *err);
int make_train_job(struct maker *maker, const struct object *owner, struct err *err);
int make_grove(struct maker *maker, const struct object *owner, struct err *err);
int make_compute_domain(struct maker *maker, const struct object *owner, struct err *err);
int make_spark(struct maker *maker, const struct object *owner, struct err *err);
int make_pod_clique(struct maker *maker, const struct object *owner, struct err *err);
int make_dynamo(struct maker *maker, const struct object *owner, struct err *err);
int make_workflow(struct maker *maker, const struct object *owner, struct err *err);
int make_pipeline_run(struct maker *maker, const struct object *owner, struct err *err);
int make_task_run(struct maker *maker, const struct object *owner, struct err *err);
int make_runai_job(struct maker *maker, const struct object *owner, struct err *err);
int make_runai_workload(struct maker *maker, const struct object *owner, struct err *err);
int make_runai_distributed(struct maker *maker, const struct object *owner, struct err *err);
int make_runai_inference(struct maker *maker, const struct object *owner, struct err *err);
int make_seldon(struct maker *maker, const struct object *owner, struct err *err);
int make_dev_workspace(struct maker *maker, const struct object *owner, struct err *err);
int make_virtual_machine(struct maker *maker, const struct object *owner, struct err *err);
int make_virtual_machine_instance(struct maker *maker, const struct object *owner, struct err *err);
