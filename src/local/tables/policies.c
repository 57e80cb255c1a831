/* SPDX-License-Identifier: Apache-2.0 */

/* Autoscalers and disruption budgets: what they allow, and for whom. */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "local/tables/tables_internal.h"

enum { TEXT_MAX = 4096, METRICS_SHOWN = 2 };

/* --- HorizontalPodAutoscalers --- */

static yyjson_mut_val *reference(yyjson_val *scaler, nsec_t now, yyjson_mut_doc *out)
{
    char text[TEXT_MAX];

    (void)now;
    (void)snprintf(text, sizeof text, "%s/%s", cell_text(scaler, "spec.scaleTargetRef.kind", ""),
                   cell_text(scaler, "spec.scaleTargetRef.name", ""));
    return yyjson_mut_strcpy(out, text);
}

/* The target of a metric; nobody measures, so that the value itself is unknown. */
static void add_metric(struct strbuf *text, yyjson_val *metric)
{
    static const char *const kinds[] = {"resource", "containerResource", "pods", "object", "external"};
    yyjson_val *source = NULL;

    for (size_t i = 0; !source && i < sizeof kinds / sizeof *kinds; i++)
        source = yyjson_obj_get(metric, kinds[i]);
    const char *name = cell_text(source, "name", "");

    if (*name)
        strbuf_addf(text, "%s: ", name);
    strbuf_addstr(text, "<unknown>/");
    if (cell_at(source, "target.averageUtilization"))
        strbuf_addf(text, "%lld%%", (long long)cell_number(source, "target.averageUtilization"));
    else if (cell_at(source, "target.averageValue"))
        strbuf_addstr(text, cell_text(source, "target.averageValue", ""));
    else
        strbuf_addstr(text, cell_text(source, "target.value", "<auto>"));
}

static yyjson_mut_val *targets(yyjson_val *scaler, nsec_t now, yyjson_mut_doc *out)
{
    yyjson_val *metrics = cell_at(scaler, "spec.metrics");
    yyjson_val *metric;
    struct strbuf text;
    size_t i, max;

    (void)now;
    strbuf_init(&text, TEXT_MAX);
    yyjson_arr_foreach(metrics, i, max, metric)
    {
        if (i >= METRICS_SHOWN)
            break;
        if (i > 0)
            strbuf_addstr(&text, ", ");
        add_metric(&text, metric);
    }
    if (yyjson_arr_size(metrics) > METRICS_SHOWN)
        strbuf_addf(&text, " + %zu more...", yyjson_arr_size(metrics) - METRICS_SHOWN);
    yyjson_mut_val *cell = yyjson_mut_strcpy(out, text.len ? text.text : "<none>");

    strbuf_done(&text);
    return cell;
}

static yyjson_mut_val *smallest(yyjson_val *scaler, nsec_t now, yyjson_mut_doc *out)
{
    char text[32];

    (void)now;
    if (!cell_at(scaler, "spec.minReplicas"))
        return yyjson_mut_str(out, "<unset>");
    (void)snprintf(text, sizeof text, "%lld", (long long)cell_number(scaler, "spec.minReplicas"));
    return yyjson_mut_strcpy(out, text);
}

static yyjson_mut_val *largest(yyjson_val *scaler, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return yyjson_mut_sint(out, cell_number(scaler, "spec.maxReplicas"));
}

static yyjson_mut_val *current(yyjson_val *scaler, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return yyjson_mut_sint(out, cell_number(scaler, "status.currentReplicas"));
}

static const struct table_column scaler_columns[] = {
    {"Reference", "string", "", 0, reference},
    {"Targets", "string", "", 0, targets},
    {"MinPods", "string", "", 0, smallest},
    {"MaxPods", "integer", "", 0, largest},
    {"Replicas", "integer", "", 0, current},
    {"Age", "string", "", 0, cell_age},
    {0},
};

/* --- PodDisruptionBudgets --- */

/* A number, or a share in percent. */
static yyjson_mut_val *amount(yyjson_val *budget, const char *path, yyjson_mut_doc *out)
{
    char text[32];

    if (!cell_at(budget, path))
        return yyjson_mut_str(out, "N/A");
    if (!yyjson_is_int(cell_at(budget, path)))
        return cell_copy(budget, path, "", out);
    (void)snprintf(text, sizeof text, "%lld", (long long)cell_number(budget, path));
    return yyjson_mut_strcpy(out, text);
}

static yyjson_mut_val *available(yyjson_val *budget, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return amount(budget, "spec.minAvailable", out);
}

static yyjson_mut_val *unavailable(yyjson_val *budget, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return amount(budget, "spec.maxUnavailable", out);
}

static yyjson_mut_val *allowed(yyjson_val *budget, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return yyjson_mut_sint(out, cell_number(budget, "status.disruptionsAllowed"));
}

static const struct table_column budget_columns[] = {
    {"Min Available", "string", "", 0, available},
    {"Max Unavailable", "string", "", 0, unavailable},
    {"Allowed Disruptions", "integer", "", 0, allowed},
    {"Age", "string", "", 0, cell_age},
    {0},
};

const struct table_kind policy_tables[] = {
    {"autoscaling", "horizontalpodautoscalers", scaler_columns},
    {"policy", "poddisruptionbudgets", budget_columns},
    {0},
};
