/* SPDX-License-Identifier: Apache-2.0 */

/* The findings, for people and for programs. */
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "sim/migrate/migrate_internal.h"
#include "text/json.h"
#include "text/table.h"

static const enum text_style styles[] = {
    [FINDING_UNSUPPORTED] = STYLE_BAD,
    [FINDING_TODO] = STYLE_WARN,
    [FINDING_CHANGES] = STYLE_PLAIN,
    [FINDING_SAME] = STYLE_DIM,
};

static void print_system(const struct migration *migration, enum migrate_system system, const struct table_view *view,
                         FILE *out)
{
    static const struct table_column columns[] = {
        {"RESULT", TABLE_LEFT, TABLE_WHOLE},
        {"CODE", TABLE_LEFT, TABLE_WHOLE},
        {"COUNT", TABLE_RIGHT, TABLE_WHOLE},
        {"FINDING", TABLE_LEFT, TABLE_WRAP},
    };
    struct table t;

    (void)fprintf(out, "From %s\n", migrate_system_title(system));
    table_init(&t, columns, ARRAY_LEN(columns));
    vec_foreach (&migration->findings, finding) {
        if (finding->system != system)
            continue;
        table_cell(&t, styles[finding->class], "%s", finding_class_name(finding->class));
        table_cell(&t, STYLE_PLAIN, "%s", finding->code);
        table_cell(&t, STYLE_PLAIN, "%u", finding->count);
        table_cell(&t, STYLE_PLAIN, "%s%s%s%s%s%s", finding->text, *finding->objects ? " (" : "", finding->objects,
                   *finding->objects ? ")" : "", *finding->action ? ". To do: " : "", finding->action);
    }
    table_print(&t, view, out);
    table_done(&t);
    (void)fputc('\n', out);
}

static uint32_t count_of(const struct migration *migration, enum finding_class class)
{
    uint32_t count = 0;

    vec_foreach (&migration->findings, finding)
        count += finding->class == class;
    return count;
}

void migration_print(const struct migration *migration, const struct table_view *view, FILE *out)
{
    bool is_any = false;

    for (enum migrate_system system = 0; system < _SYSTEM_MAX; system++) {
        if (migration->has[system])
            print_system(migration, system, view, out);
        is_any |= migration->has[system];
    }
    if (!is_any) {
        (void)fputs("No other scheduler was found: neither KAI Scheduler, Run:ai, Kueue nor Volcano.\n", out);
        return;
    }
    (void)fprintf(out, "%u unsupported, %u to do, %u changed, %u the same\n", count_of(migration, FINDING_UNSUPPORTED),
                  count_of(migration, FINDING_TODO), count_of(migration, FINDING_CHANGES),
                  count_of(migration, FINDING_SAME));
}

static void add_finding(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct finding *finding)
{
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);

    (void)yyjson_mut_obj_add_str(doc, item, "system", migrate_system_name(finding->system));
    (void)yyjson_mut_obj_add_str(doc, item, "result", finding_class_name(finding->class));
    (void)yyjson_mut_obj_add_str(doc, item, "code", finding->code);
    (void)yyjson_mut_obj_add_uint(doc, item, "count", finding->count);
    (void)yyjson_mut_obj_add_str(doc, item, "objects", finding->objects);
    (void)yyjson_mut_obj_add_str(doc, item, "message", finding->text);
    if (*finding->action)
        (void)yyjson_mut_obj_add_str(doc, item, "action", finding->action);
}

void migration_write(const struct migration *migration, FILE *out)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *systems = yyjson_mut_obj_add_arr(doc, root, "systems");
    yyjson_mut_val *findings = yyjson_mut_obj_add_arr(doc, root, "findings");

    for (enum migrate_system system = 0; system < _SYSTEM_MAX; system++) {
        if (migration->has[system])
            (void)yyjson_mut_arr_add_str(doc, systems, migrate_system_name(system));
    }
    vec_foreach (&migration->findings, finding)
        add_finding(doc, findings, finding);
    (void)yyjson_mut_obj_add_val(doc, root, "values",
                                 yyjson_mut_val_mut_copy(doc, yyjson_mut_doc_get_root(migration->values)));
    (void)yyjson_mut_obj_add_val(doc, root, "manifests",
                                 yyjson_mut_val_mut_copy(doc, yyjson_mut_doc_get_root(migration->objects)));
    _cleanup_(freep) char *text = yyjson_mut_write(
        doc, YYJSON_WRITE_PRETTY_TWO_SPACES | YYJSON_WRITE_NEWLINE_AT_END | YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);

    (void)fputs(text ? text : "{}\n", out);
    yyjson_mut_doc_free(doc);
}
