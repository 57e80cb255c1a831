/* SPDX-License-Identifier: Apache-2.0 */

/* The survey: which systems there are, every check of their tables over all objects, and what they add by themselves. */
#include "sim/migrate/migrate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "model/resources.h"
#include "objects/fields.h"
#include "objects/kinds.h"
#include "sim/migrate/migrate_internal.h"
#include "text/json.h"
#include "text/quantity.h"

enum { TEXT_MAX = 64 * 1024 };

static const struct system_row {
    const char *name;
    const char *title;
    const struct check *checks;
    const size_t *check_count;
    void (*survey)(struct migration *migration);
} systems[] = {
    [SYSTEM_KAI] = {"kai", "KAI Scheduler", kai_checks, &kai_check_count, kai_survey},
    [SYSTEM_RUNAI] = {"runai", "Run:ai", runai_checks, &runai_check_count, runai_survey},
    [SYSTEM_KUEUE] = {"kueue", "Kueue", kueue_checks, &kueue_check_count, kueue_survey},
    [SYSTEM_VOLCANO] = {"volcano", "Volcano", volcano_checks, &volcano_check_count, volcano_survey},
};
_Static_assert(ARRAY_LEN(systems) == _SYSTEM_MAX, "every system has a row");

const char *migrate_system_name(enum migrate_system system)
{
    return systems[system].name;
}

const char *migrate_system_title(enum migrate_system system)
{
    return systems[system].title;
}

const char *finding_class_name(enum finding_class class)
{
    static const char *const names[] = {
        [FINDING_UNSUPPORTED] = "unsupported",
        [FINDING_TODO] = "to do",
        [FINDING_CHANGES] = "changes",
        [FINDING_SAME] = "same",
    };
    _Static_assert(ARRAY_LEN(names) == _FINDING_MAX, "every class has a name");
    return names[class];
}

/* Paths. */

static bool is_something(yyjson_val *val)
{
    if (yyjson_is_str(val))
        return yyjson_get_len(val) > 0;
    if (yyjson_is_ctn(val))
        return unsafe_yyjson_get_len(val) > 0;
    return yyjson_is_num(val) ? yyjson_get_num(val) != 0 : yyjson_is_true(val);
}

static bool has_value(yyjson_val *val, const char *value)
{
    if (yyjson_is_str(val))
        return strcmp(yyjson_get_str(val), value) == 0;
    return yyjson_is_bool(val) && strcmp(value, yyjson_get_bool(val) ? "true" : "false") == 0;
}

bool path_leads(yyjson_val *val, const char *const *path, const char *value)
{
    size_t i, count;
    yyjson_val *key, *item;
    bool leads = false;

    if (!*path)
        return value ? has_value(val, value) : is_something(val);
    if (strcmp(*path, "*") != 0)
        return path_leads(yyjson_obj_get(val, *path), path + 1, value);
    yyjson_arr_foreach(val, i, count, item) leads |= path_leads(item, path + 1, value);
    yyjson_obj_foreach(val, i, count, key, item) leads |= path_leads(item, path + 1, value);
    return leads;
}

yyjson_val *path_get(yyjson_val *val, const char *const *path)
{
    for (; *path; path++)
        val = yyjson_obj_get(val, *path);
    return val;
}

const char *path_text(yyjson_val *val, const char *const *path)
{
    const char *text = yyjson_get_str(path_get(val, path));

    return text ? text : "";
}

/* Findings. */

const char *migration_text(struct migration *migration, const char *format, ...)
{
    _cleanup_(freep) char *text = NULL;
    va_list args;

    va_start(args, format);
    BUG_ON(vasprintf(&text, format, args) < 0);
    va_end(args);
    return arena_strdup(&migration->texts, text);
}

void migration_add(struct migration *migration, const struct finding *finding)
{
    vec_push(&migration->findings, *finding);
}

static void add_object_name(struct strbuf *names, const struct object *object)
{
    strbuf_addf(names, "%s%s%s%s", names->len ? ", " : "", object->namespace, *object->namespace ? "/" : "",
                object->name);
}

static void run_check(struct migration *migration, const struct check *check)
{
    const struct object_kind *kind = object_kind_of(check->group, check->kind);
    uint32_t count = 0;
    struct strbuf names;

    BUG_ON(!kind);
    strbuf_init(&names, TEXT_MAX);
    for (const struct object *object = object_set_first(migration->set, kind); object; object = object->next) {
        if (object->is_replaced || (check->path[0] && !path_leads(object->root.val, check->path, check->value)) ||
            (check->is_so && !check->is_so(migration, object)))
            continue;
        if (count++ < NAMES_SHOWN)
            add_object_name(&names, object);
    }
    if (count > NAMES_SHOWN)
        strbuf_addf(&names, " and %u more", count - NAMES_SHOWN);
    if (count > 0)
        migration_add(migration, &(struct finding){
                                     .system = check->system,
                                     .class = check->class,
                                     .code = check->code,
                                     .count = count,
                                     .objects = migration_text(migration, "%s", names.text),
                                     .text = check->text,
                                     .action = check->action ? check->action : "",
                                 });
    strbuf_done(&names);
}

/* Which systems there are. */

static bool has_objects(const struct migration *migration, const char *group, const char *kind)
{
    return object_set_first(migration->set, object_kind_of(group, kind)) != NULL;
}

static bool has_pods_of(const struct migration *migration, const char *scheduler)
{
    const struct object *pod = object_set_first(migration->set, object_kind_of("", "Pod"));

    for (; pod; pod = pod->next) {
        if (strcmp(PATH_TEXT(pod->root.val, "spec", "schedulerName"), scheduler) == 0)
            return true;
    }
    return false;
}

static void find_systems(struct migration *migration)
{
    bool is_runai = has_objects(migration, "run.ai", "Project") || has_objects(migration, "run.ai", "RunaiConfig") ||
                    has_objects(migration, "scheduling.run.ai", "Department") ||
                    has_pods_of(migration, "runai-scheduler");

    migration->has[SYSTEM_RUNAI] = is_runai;
    /* Run:ai's scheduler has the same Queues. */
    migration->has[SYSTEM_KAI] = has_objects(migration, "kai.scheduler", "Config") ||
                                 has_objects(migration, "kai.scheduler", "SchedulingShard") ||
                                 has_pods_of(migration, "kai-scheduler") ||
                                 (!is_runai && has_objects(migration, "scheduling.run.ai", "Queue"));
    migration->has[SYSTEM_KUEUE] = has_objects(migration, "kueue.x-k8s.io", "ClusterQueue") ||
                                   has_objects(migration, "kueue.x-k8s.io", "LocalQueue");
    migration->has[SYSTEM_VOLCANO] = has_objects(migration, "scheduling.volcano.sh", "Queue") ||
                                     has_objects(migration, "batch.volcano.sh", "Job") ||
                                     has_pods_of(migration, "volcano");
}

static int compare_findings(const void *left, const void *right)
{
    const struct finding *a = left;
    const struct finding *b = right;

    if (a->system != b->system)
        return (int)a->system - (int)b->system;
    if (a->class != b->class)
        return (int)a->class - (int)b->class;
    return strcmp(a->code, b->code);
}

void migrate(struct migration *migration, const struct object_set *set, enum migrate_system wanted)
{
    *migration = (struct migration){.set = set, .values = json_new_object(NULL), .objects = yyjson_mut_doc_new(NULL)};
    yyjson_mut_doc_set_root(migration->objects, yyjson_mut_arr(migration->objects));
    arena_init(&migration->texts);
    if (wanted == _SYSTEM_MAX)
        find_systems(migration);
    else
        migration->has[wanted] = true;
    for (enum migrate_system system = 0; system < _SYSTEM_MAX; system++) {
        if (!migration->has[system])
            continue;
        for (size_t i = 0; i < *systems[system].check_count; i++)
            run_check(migration, &systems[system].checks[i]);
        systems[system].survey(migration);
    }
    if (migration->findings.len)
        qsort(migration->findings.items, migration->findings.len, sizeof *migration->findings.items, compare_findings);
}

void migration_done(struct migration *migration)
{
    vec_done(&migration->findings);
    yyjson_mut_doc_free(migration->values);
    yyjson_mut_doc_free(migration->objects);
    arena_done(&migration->texts);
}

bool migration_needs_work(const struct migration *migration)
{
    vec_foreach (&migration->findings, finding) {
        if (finding->class == FINDING_UNSUPPORTED || finding->class == FINDING_TODO)
            return true;
    }
    return false;
}

/* What the chart and kubectl are given. */

static yyjson_mut_val *member(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *key)
{
    yyjson_mut_val *found = yyjson_mut_obj_get(parent, key);

    if (found)
        return found;
    found = yyjson_mut_obj(doc);
    (void)yyjson_mut_obj_add(parent, yyjson_mut_strcpy(doc, key), found);
    return found;
}

static void set(struct migration *migration, const char *const *path, yyjson_mut_val *value)
{
    yyjson_mut_doc *doc = migration->values;
    yyjson_mut_val *parent = yyjson_mut_doc_get_root(doc);

    for (; path[1]; path++)
        parent = member(doc, parent, *path);
    (void)yyjson_mut_obj_put(parent, yyjson_mut_strcpy(doc, *path), value);
}

void values_set(struct migration *migration, const char *const *path, yyjson_val *value)
{
    if (value && !yyjson_is_null(value))
        set(migration, path, yyjson_val_mut_copy(migration->values, value));
}

void values_set_text(struct migration *migration, const char *const *path, const char *text)
{
    set(migration, path, yyjson_mut_strcpy(migration->values, text));
}

void values_set_bool(struct migration *migration, const char *const *path, bool is)
{
    set(migration, path, yyjson_mut_bool(migration->values, is));
}

static yyjson_mut_val *add_object(struct migration *migration, const char *api_version, const char *kind,
                                  const char *name)
{
    yyjson_mut_doc *doc = migration->objects;
    yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, yyjson_mut_doc_get_root(doc));

    (void)yyjson_mut_obj_add_str(doc, object, "apiVersion", api_version);
    (void)yyjson_mut_obj_add_str(doc, object, "kind", kind);
    (void)yyjson_mut_obj_add_strcpy(doc, yyjson_mut_obj_add_obj(doc, object, "metadata"), "name", name);
    return object;
}

static void add_number(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, double number)
{
    if (number == (double)(int64_t)number)
        (void)yyjson_mut_obj_add_sint(doc, to, key, (int64_t)number);
    else
        (void)yyjson_mut_obj_add_real(doc, to, key, number);
}

void plan_queue(struct migration *migration, const struct queue_plan *plan)
{
    static const char *const names[] = {[SHARE_CPU] = "cpu", [SHARE_MEMORY] = "memory", [SHARE_GPU] = "gpu"};
    yyjson_mut_doc *doc = migration->objects;
    yyjson_mut_val *queue = add_object(migration, "scheduling.run.ai/v2", "Queue", plan->name);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, queue, "spec");

    if (*plan->display_name)
        (void)yyjson_mut_obj_add_strcpy(doc, spec, "displayName", plan->display_name);
    if (*plan->parent)
        (void)yyjson_mut_obj_add_strcpy(doc, spec, "parentQueue", plan->parent);
    yyjson_mut_val *resources = yyjson_mut_obj_add_obj(doc, spec, "resources");

    for (int share = 0; share < SHARE_COUNT; share++) {
        yyjson_mut_val *to = yyjson_mut_obj_add_obj(doc, resources, names[share]);

        add_number(doc, to, "quota", plan->has[share] ? plan->quota[share] : -1);
        add_number(doc, to, "limit", plan->has[share] ? plan->limit[share] : -1);
        add_number(doc, to, "overQuotaWeight", plan->has[share] ? plan->weight[share] : 1);
    }
}

bool plan_has_queue(const struct migration *migration, const char *name)
{
    size_t i, count;
    yyjson_mut_val *object;

    yyjson_mut_arr_foreach(yyjson_mut_doc_get_root(migration->objects), i, count, object)
    {
        const char *found = yyjson_mut_get_str(yyjson_mut_obj_get(yyjson_mut_obj_get(object, "metadata"), "name"));

        if (found && strcmp(found, name) == 0 &&
            strcmp(yyjson_mut_get_str(yyjson_mut_obj_get(object, "kind")), "Queue") == 0)
            return true;
    }
    return false;
}

void plan_priority_class(struct migration *migration, const char *name, int64_t value)
{
    yyjson_mut_val *class = add_object(migration, "scheduling.k8s.io/v1", "PriorityClass", name);

    (void)yyjson_mut_obj_add_sint(migration->objects, class, "value", value);
}

bool queue_amount(const char *resource, yyjson_val *quantity, int *ret_share, double *ret_amount)
{
    static const struct {
        const char *name;
        int share;
        double unit;  // of a thousandth, in Queue's units
    } rows[] = {
        {"cpu", SHARE_CPU, 1},
        {"memory", SHARE_MEMORY, 1e-9},
        {"nvidia.com/gpu", SHARE_GPU, 1e-3},
        {"amd.com/gpu", SHARE_GPU, 1e-3},
    };
    char number[NUMBER_TEXT_MAX];
    const char *text = yyjson_is_num(quantity) ? number_format(quantity, number) : yyjson_get_str(quantity);
    int64_t thousandths = 0;

    for (size_t i = 0; text && i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].name, resource) != 0 || quantity_parse(text, QUANTITY_MILLI, &thousandths, NULL) < 0)
            continue;
        *ret_share = rows[i].share;
        *ret_amount = (double)thousandths * rows[i].unit;
        return true;
    }
    return false;
}
