/* SPDX-License-Identifier: Apache-2.0 */
#include "console/live/cut.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/live/live_internal.h"

struct cutting {
    const struct live *live;
    const struct caller *caller;
    yyjson_mut_doc *doc;
};

static const char *text_at(yyjson_mut_val *object, const char *key)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, key));

    return text ? text : "";
}

/* By its name, "namespace/name", and its queue, "" where it is not known. */
static bool shows_work(const struct cutting *cutting, const char *workload, const char *queue)
{
    const char *slash = strchr(workload, '/');
    char *namespace = xstrndup(workload, slash ? (size_t)(slash - workload) : 0);
    bool may = units_show_work(cutting->live->units, &cutting->caller->access, namespace, queue);

    free(namespace);
    return may;
}

static bool shows_queue(const struct cutting *cutting, const char *queue)
{
    return units_show_queue(cutting->live->units, &cutting->caller->access, queue);
}

typedef bool (*keeps_fn)(const struct cutting *cutting, yyjson_mut_val *item);

/* Returns how many are left out, and adds up what they hold of GPUs. */
static uint64_t keep(const struct cutting *cutting, const char *key, keeps_fn keeps, double *gpus)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(cutting->doc);
    yyjson_mut_val *items = yyjson_mut_obj_get(root, key);
    yyjson_mut_val *item;
    yyjson_mut_arr_iter iter;
    uint64_t count = 0;

    if (!yyjson_mut_arr_iter_init(items, &iter))
        return 0;
    while ((item = yyjson_mut_arr_iter_next(&iter))) {
        if (keeps(cutting, item))
            continue;
        *gpus += yyjson_mut_get_num(yyjson_mut_obj_get(yyjson_mut_obj_get(item, "allocated"), "gpu"));
        (void)yyjson_mut_arr_iter_remove(&iter);
        count++;
    }
    return count;
}

static void tell_hidden(const struct cutting *cutting, uint64_t workloads, double gpus)
{
    if (workloads == 0)
        return;
    yyjson_mut_val *hidden = yyjson_mut_obj_add_obj(cutting->doc, yyjson_mut_doc_get_root(cutting->doc), "hidden");

    (void)yyjson_mut_obj_add_uint(cutting->doc, hidden, "workloads", workloads);
    if (gpus > 0)
        (void)yyjson_mut_obj_add_real(cutting->doc, hidden, "gpus", gpus);
}

/* --- why --- */

static bool keeps_holder(const struct cutting *cutting, yyjson_mut_val *holder)
{
    return shows_work(cutting, text_at(holder, "workload"), text_at(holder, "queue"));
}

/* A remedy may be about another workload, about another queue, or about several queues; one of a pair has the other one in it. */
static bool keeps_remedy(const struct cutting *cutting, yyjson_mut_val *remedy)
{
    yyjson_mut_val *queue;
    yyjson_mut_val *with = yyjson_mut_obj_get(remedy, "with");
    size_t i, count;

    yyjson_mut_arr_foreach(yyjson_mut_obj_get(remedy, "queues"), i, count, queue)
    {
        if (!shows_queue(cutting, text_at(queue, "queue")))
            return false;
    }
    return (!*text_at(remedy, "queue") || shows_queue(cutting, text_at(remedy, "queue"))) &&
           (!*text_at(remedy, "workload") || shows_work(cutting, text_at(remedy, "workload"), "")) &&
           (!with || keeps_remedy(cutting, with));
}

void live_cut_why(const struct live *live, const struct caller *caller, yyjson_mut_doc *doc)
{
    const struct cutting cutting = {live, caller, doc};
    double gpus = 0;
    double none = 0;

    if (units_show_all_work(&caller->access) && units_show_all_queues(&caller->access))
        return;
    uint64_t hidden = keep(&cutting, "holders", keeps_holder, &gpus);

    (void)keep(&cutting, "remedies", keeps_remedy, &none);
    tell_hidden(&cutting, hidden, gpus);
}

/* --- whatif --- */

static void cut_fate(const struct cutting *cutting, yyjson_mut_val *fate)
{
    if (*text_at(fate, "for") && !shows_work(cutting, text_at(fate, "for"), ""))
        (void)yyjson_mut_obj_remove_key(fate, "for");
}

static bool keeps_workload(const struct cutting *cutting, yyjson_mut_val *workload)
{
    cut_fate(cutting, yyjson_mut_obj_get(workload, "without"));
    cut_fate(cutting, yyjson_mut_obj_get(workload, "with"));
    return shows_work(cutting, text_at(workload, "workload"), text_at(workload, "queue"));
}

static bool keeps_queue(const struct cutting *cutting, yyjson_mut_val *queue)
{
    return shows_queue(cutting, text_at(queue, "queue"));
}

void live_cut_whatif(const struct live *live, const struct caller *caller, yyjson_mut_doc *doc)
{
    const struct cutting cutting = {live, caller, doc};
    double none = 0;

    if (!units_show_all_queues(&caller->access))
        (void)keep(&cutting, "queues", keeps_queue, &none);
    if (!units_show_all_work(&caller->access))
        tell_hidden(&cutting, keep(&cutting, "workloads", keeps_workload, &none), 0);
}
