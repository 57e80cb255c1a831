/* SPDX-License-Identifier: Apache-2.0 */

/* The cluster of a trace, as manifests. Names come from outside and are quoted where YAML could take them for another. */
#include "sim/trace/trace_cluster.h"

#include <inttypes.h>
#include <string.h>

void trace_cluster_done(struct trace_cluster *cluster)
{
    vec_done(&cluster->nodes);
    vec_done(&cluster->queues);
}

uint64_t trace_cluster_gpus(const struct trace_cluster *cluster)
{
    uint64_t gpus = 0;

    vec_foreach (&cluster->nodes, node)
        gpus += node->gpus;
    return gpus;
}

/* Letters, digits, '-', '.' and '/', and no word that YAML has a meaning for. */
static bool is_plain(const char *text, size_t len)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};

    if (len == 0 || *text < 'a' || *text > 'z')
        return false;
    for (size_t i = 0; i < len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-./", text[i]))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strlen(words[i]) == len && memcmp(words[i], text, len) == 0)
            return false;
    return true;
}

static void write_scalar(const char *text, size_t len, FILE *out)
{
    if (is_plain(text, len)) {
        (void)fwrite(text, 1, len, out);
        return;
    }
    (void)fputc('"', out);
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\')
            (void)fputc('\\', out);
        if ((unsigned char)text[i] < ' ')
            (void)fprintf(out, "\\x%02x", (unsigned)text[i]);
        else
            (void)fputc(text[i], out);
    }
    (void)fputc('"', out);
}

static void write_labels(const char *labels, FILE *out)
{
    const char *joint = "";

    for (const char *at = labels; *at;) {
        size_t key = strcspn(at, "=;");
        size_t value = at[key] == '=' ? strcspn(at + key + 1, ";") : 0;

        (void)fputs(joint, out);
        write_scalar(at, key, out);
        (void)fputs(": ", out);
        write_scalar(at + key + (at[key] == '='), value, out);
        joint = ", ";
        at += key + (at[key] == '=') + value;
        at += *at == ';';
    }
}

static void write_amount(int64_t amount, int64_t unit, const char *suffix, const char *small, FILE *out)
{
    bool is_whole = amount % unit == 0;

    (void)fprintf(out, "%" PRId64 "%s", is_whole ? amount / unit : amount, is_whole ? suffix : small);
}

/* A line each, so that a thousand nodes stay readable. */
static void write_node(const struct trace_node *node, const struct trace *trace, FILE *out)
{
    const char *name = trace_str(trace, node->name);

    (void)fputs("- {apiVersion: v1, kind: Node, metadata: {name: ", out);
    write_scalar(name, strlen(name), out);
    (void)fputs(", labels: {", out);
    write_labels(trace_str(trace, node->labels), out);
    (void)fputs("}}, status: {allocatable: {cpu: \"", out);
    write_amount(node->cpu_milli, 1000, "", "m", out);
    (void)fputs("\", memory: ", out);
    write_amount(node->memory_bytes, INT64_C(1) << 30, "Gi", "", out);
    (void)fprintf(out, ", pods: \"250\", nvidia.com/gpu: \"%u\"}, conditions: [{type: Ready, status: \"True\"}]}}\n",
                  node->gpus);
}

static void write_queue(const char *name, const char *parent, double quota, FILE *out)
{
    (void)fputs("- apiVersion: scheduling.run.ai/v2\n  kind: Queue\n  metadata: {name: ", out);
    write_scalar(name, strlen(name), out);
    (void)fputs("}\n  spec:\n", out);
    if (parent)
        (void)fprintf(out, "    parentQueue: %s\n", parent);
    (void)fprintf(out,
                  "    resources:\n"
                  "      gpu: {quota: %.12g, limit: -1, overQuotaWeight: %.12g}\n"
                  "      cpu: {quota: -1, limit: -1, overQuotaWeight: 1}\n"
                  "      memory: {quota: -1, limit: -1, overQuotaWeight: 1}\n",
                  quota, quota > 0 ? quota : 1);
}

/*
 * What a busy cluster needs: only the first workload of a queue has victims looked for. Behind one that has to wait, hardly
 * any search finds some, since most victims return before it has its turn; hundreds would be made in vain at each event.
 */
static void write_settings(FILE *out)
{
    (void)fputs("- apiVersion: kai.scheduler/v1\n"
                "  kind: SchedulingShard\n"
                "  metadata: {name: default}\n"
                "  spec:\n"
                "    queueDepthPerAction: {consolidation: 1, reclaim: 1, preempt: 1}\n",
                out);
}

/* The parent's name, unless a queue is called so. */
static const char *parent_name(const struct trace_cluster *cluster, const struct trace *trace)
{
    vec_foreach (&cluster->queues, queue)
        if (strcmp(trace_str(trace, queue->name), "all") == 0)
            return "all-queues";
    return "all";
}

void trace_cluster_write(const struct trace_cluster *cluster, const struct trace *trace, FILE *out)
{
    const char *parent = parent_name(cluster, trace);

    (void)fputs("apiVersion: v1\nkind: List\nitems:\n", out);
    write_settings(out);
    write_queue(parent, NULL, -1, out);
    vec_foreach (&cluster->queues, queue)
        write_queue(trace_str(trace, queue->name), parent, queue->quota, out);
    vec_foreach (&cluster->nodes, node)
        write_node(node, trace, out);
}
