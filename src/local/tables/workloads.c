/* SPDX-License-Identifier: Apache-2.0 */

/* The kinds that make pods. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "local/tables/tables.h"
#include "local/tables/tables_internal.h"

/* --- What several of them have --- */

static yyjson_mut_val *names(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_containers(cell_at(object, "spec.template.spec.containers"), "name", out);
}

static yyjson_mut_val *images(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_containers(cell_at(object, "spec.template.spec.containers"), "image", out);
}

static yyjson_mut_val *selector(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_selector(cell_at(object, "spec.selector"), out);
}

static yyjson_mut_val *number(yyjson_val *object, const char *path, yyjson_mut_doc *out)
{
    return yyjson_mut_sint(out, cell_number(object, path));
}

static yyjson_mut_val *wanted(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return number(object, "spec.replicas", out);
}

static yyjson_mut_val *present(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return number(object, "status.replicas", out);
}

static yyjson_mut_val *ready(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return number(object, "status.readyReplicas", out);
}

static yyjson_mut_val *updated(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return number(object, "status.updatedReplicas", out);
}

static yyjson_mut_val *available(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return number(object, "status.availableReplicas", out);
}

static yyjson_mut_val *ready_of_wanted(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    char text[64];

    (void)now;
    (void)snprintf(text, sizeof text, "%lld/%lld", (long long)cell_number(object, "status.readyReplicas"),
                   (long long)cell_number(object, "spec.replicas"));
    return yyjson_mut_strcpy(out, text);
}

static const struct table_column deployment_columns[] = {
    {"Ready", "string", "", 0, ready_of_wanted}, {"Up-to-date", "string", "", 0, updated},
    {"Available", "string", "", 0, available},   {"Age", "string", "", 0, cell_age},
    {"Containers", "string", "", 1, names},      {"Images", "string", "", 1, images},
    {"Selector", "string", "", 1, selector},     {0},
};

static const struct table_column set_columns[] = {
    {"Desired", "integer", "", 0, wanted},   {"Current", "integer", "", 0, present},
    {"Ready", "integer", "", 0, ready},      {"Age", "string", "", 0, cell_age},
    {"Containers", "string", "", 1, names},  {"Images", "string", "", 1, images},
    {"Selector", "string", "", 1, selector}, {0},
};

/* A ReplicationController selects by labels alone. */
static yyjson_mut_val *labels_selector(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_labels(cell_at(object, "spec.selector"), out);
}

static const struct table_column controller_columns[] = {
    {"Desired", "integer", "", 0, wanted},
    {"Current", "integer", "", 0, present},
    {"Ready", "integer", "", 0, ready},
    {"Age", "string", "", 0, cell_age},
    {"Containers", "string", "", 1, names},
    {"Images", "string", "", 1, images},
    {"Selector", "string", "", 1, labels_selector},
    {0},
};

static const struct table_column stateful_columns[] = {
    {"Ready", "string", "", 0, ready_of_wanted},
    {"Age", "string", "", 0, cell_age},
    {"Containers", "string", "", 1, names},
    {"Images", "string", "", 1, images},
    {0},
};

/* --- Jobs --- */

static bool has_condition(yyjson_val *job, const char *type)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(cell_at(job, "status.conditions"));

    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter));) {
        if (strcmp(cell_text(item, "type", ""), type) == 0)
            return strcmp(cell_text(item, "status", ""), "True") == 0;
    }
    return false;
}

static yyjson_mut_val *job_status(yyjson_val *job, nsec_t now, yyjson_mut_doc *out)
{
    static const struct {
        const char *condition;
        const char *shown;
    } rows[] = {{"Complete", "Complete"},
                {"Failed", "Failed"},
                {"Suspended", "Suspended"},
                {"FailureTarget", "FailureTarget"},
                {"SuccessCriteriaMet", "SuccessCriteriaMet"}};

    (void)now;
    for (size_t i = 0; i < 2; i++) {
        if (has_condition(job, rows[i].condition))
            return yyjson_mut_str(out, rows[i].shown);
    }
    if (cell_at(job, "metadata.deletionTimestamp"))
        return yyjson_mut_str(out, "Terminating");
    for (size_t i = 2; i < sizeof rows / sizeof *rows; i++) {
        if (has_condition(job, rows[i].condition))
            return yyjson_mut_str(out, rows[i].shown);
    }
    return yyjson_mut_str(out, "Running");
}

static yyjson_mut_val *job_completions(yyjson_val *job, nsec_t now, yyjson_mut_doc *out)
{
    long long done = cell_number(job, "status.succeeded");
    long long parallel = cell_number(job, "spec.parallelism");
    char text[96];

    (void)now;
    if (cell_at(job, "spec.completions"))
        (void)snprintf(text, sizeof text, "%lld/%lld", done, (long long)cell_number(job, "spec.completions"));
    else if (parallel > 1)
        (void)snprintf(text, sizeof text, "%lld/1 of %lld", done, parallel);
    else
        (void)snprintf(text, sizeof text, "%lld/1", done);
    return yyjson_mut_strcpy(out, text);
}

static yyjson_mut_val *job_duration(yyjson_val *job, nsec_t now, yyjson_mut_doc *out)
{
    nsec_t start = 0;
    nsec_t end = now;
    char text[AGE_TEXT_MAX];

    if (time_parse(cell_text(job, "status.startTime", ""), &start, NULL) < 0)
        return yyjson_mut_str(out, "");
    if (time_parse(cell_text(job, "status.completionTime", ""), &end, NULL) < 0)
        end = now;
    return yyjson_mut_strcpy(out, table_age(end - start, text));
}

static const struct table_column job_columns[] = {
    {"Status", "string", "", 0, job_status},     {"Completions", "string", "", 0, job_completions},
    {"Duration", "string", "", 0, job_duration}, {"Age", "string", "", 0, cell_age},
    {"Containers", "string", "", 1, names},      {"Images", "string", "", 1, images},
    {"Selector", "string", "", 1, selector},     {0},
};

/* --- CronJobs --- */

static yyjson_mut_val *cron_schedule(yyjson_val *cron, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(cron, "spec.schedule", "", out);
}

static yyjson_mut_val *cron_zone(yyjson_val *cron, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(cron, "spec.timeZone", "<none>", out);
}

static yyjson_mut_val *cron_suspend(yyjson_val *cron, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    yyjson_val *suspend = cell_at(cron, "spec.suspend");

    return yyjson_mut_str(out, !suspend ? "<unset>" : yyjson_is_true(suspend) ? "True" : "False");
}

static yyjson_mut_val *cron_active(yyjson_val *cron, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return yyjson_mut_uint(out, yyjson_arr_size(cell_at(cron, "status.active")));
}

static yyjson_mut_val *cron_last(yyjson_val *cron, nsec_t now, yyjson_mut_doc *out)
{
    if (!cell_at(cron, "status.lastScheduleTime"))
        return yyjson_mut_str(out, "<none>");
    return cell_since(cron, "status.lastScheduleTime", now, out);
}

static yyjson_mut_val *cron_names(yyjson_val *cron, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_containers(cell_at(cron, "spec.jobTemplate.spec.template.spec.containers"), "name", out);
}

static yyjson_mut_val *cron_images(yyjson_val *cron, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_containers(cell_at(cron, "spec.jobTemplate.spec.template.spec.containers"), "image", out);
}

static yyjson_mut_val *cron_selector(yyjson_val *cron, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_selector(cell_at(cron, "spec.jobTemplate.spec.selector"), out);
}

static const struct table_column cron_columns[] = {
    {"Schedule", "string", "", 0, cron_schedule},  {"Timezone", "string", "", 0, cron_zone},
    {"Suspend", "boolean", "", 0, cron_suspend},   {"Active", "integer", "", 0, cron_active},
    {"Last Schedule", "string", "", 0, cron_last}, {"Age", "string", "", 0, cell_age},
    {"Containers", "string", "", 1, cron_names},   {"Images", "string", "", 1, cron_images},
    {"Selector", "string", "", 1, cron_selector},  {0},
};

/* --- DaemonSets, templates and revisions --- */

CELL_NUMBER(daemon_wanted, "status.desiredNumberScheduled")
CELL_NUMBER(daemon_present, "status.currentNumberScheduled")
CELL_NUMBER(daemon_ready, "status.numberReady")
CELL_NUMBER(daemon_updated, "status.updatedNumberScheduled")
CELL_NUMBER(daemon_available, "status.numberAvailable")

static yyjson_mut_val *daemon_nodes(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_labels(cell_at(object, "spec.template.spec.nodeSelector"), out);
}

static const struct table_column daemon_columns[] = {
    {"Desired", "integer", "", 0, daemon_wanted},
    {"Current", "integer", "", 0, daemon_present},
    {"Ready", "integer", "", 0, daemon_ready},
    {"Up-to-date", "integer", "", 0, daemon_updated},
    {"Available", "integer", "", 0, daemon_available},
    {"Node Selector", "string", "", 0, daemon_nodes},
    {"Age", "string", "", 0, cell_age},
    {"Containers", "string", "", 1, names},
    {"Images", "string", "", 1, images},
    {"Selector", "string", "", 1, selector},
    {0},
};

static yyjson_mut_val *template_names(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_containers(cell_at(object, "template.spec.containers"), "name", out);
}

static yyjson_mut_val *template_images(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_containers(cell_at(object, "template.spec.containers"), "image", out);
}

static yyjson_mut_val *template_labels(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_labels(cell_at(object, "template.metadata.labels"), out);
}

static const struct table_column template_columns[] = {
    {"Containers", "string", "", 0, template_names},
    {"Images", "string", "", 0, template_images},
    {"Pod Labels", "string", "", 0, template_labels},
    {0},
};

/* "statefulset.apps/web": what the revision is of. */
static yyjson_mut_val *revision_owner(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(cell_at(object, "metadata.ownerReferences"));
    char text[512];

    (void)now;
    for (yyjson_val *owner; (owner = yyjson_arr_iter_next(&iter));) {
        const char *version = cell_text(owner, "apiVersion", "");
        int group = (int)strcspn(version, "/");
        if (!yyjson_is_true(yyjson_obj_get(owner, "controller")))
            continue;
        int len = snprintf(text, sizeof text, "%s%s%.*s/%s", cell_text(owner, "kind", ""), version[group] ? "." : "",
                           version[group] ? group : 0, version, cell_text(owner, "name", ""));
        for (int i = 0; i < len && text[i] != '/' && text[i] != '.'; i++)
            text[i] = (char)tolower((unsigned char)text[i]);
        return yyjson_mut_strcpy(out, text);
    }
    return yyjson_mut_str(out, "<none>");
}

CELL_NUMBER(revision_number, "revision")

static const struct table_column revision_columns[] = {
    {"Controller", "string", "", 0, revision_owner},
    {"Revision", "string", "", 0, revision_number},
    {"Age", "string", "", 0, cell_age},
    {0},
};

const struct table_kind workload_tables[] = {
    {"apps", "daemonsets", daemon_columns},
    {"apps", "controllerrevisions", revision_columns},
    {"", "podtemplates", template_columns},
    {"apps", "deployments", deployment_columns},
    {"apps", "replicasets", set_columns},
    {"apps", "statefulsets", stateful_columns},
    {"", "replicationcontrollers", controller_columns},
    {"batch", "jobs", job_columns},
    {"batch", "cronjobs", cron_columns},
    {0},
};
