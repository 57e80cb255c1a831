/* SPDX-License-Identifier: Apache-2.0 */
#include "local/tables/tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/custom/definitions.h"
#include "local/tables/tables_internal.h"

static yyjson_mut_val *name_cell(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return cell_copy(object, "metadata.name", "", out);
}

static const struct table_column name_column = {"Name", "string", "name", 0, name_cell};
static const struct table_column no_columns[] = {{0}};
static yyjson_mut_val *created_cell(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    /* The row of a bookmark has no time, which Go shows as its zero. */
    return cell_copy(object, "metadata.creationTimestamp", "0001-01-01T00:00:00Z", out);
}

static const struct table_column plain_columns[] = {{"Created At", "date", "", 0, created_cell}, {0}};

static const struct table_column *columns_of(const struct api_kind *kind)
{
    const struct table_kind *const sets[] = {pod_tables,     workload_tables, policy_tables,
                                             storage_tables, cluster_tables,  other_tables};

    for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
        for (const struct table_kind *row = sets[i]; row->plural; row++) {
            if (strcmp(row->plural, kind->plural) == 0 && strcmp(row->group, kind->group) == 0)
                return row->columns;
        }
    }
    return plain_columns;
}

bool tables_is_plain(const struct api_kind *kind)
{
    return !(kind->flags & KIND_IS_CUSTOM) && columns_of(kind) == plain_columns;
}

/* Events begin with when they were last seen: what they are called says nothing. */
static bool begins_with_name(const struct api_kind *kind)
{
    return strcmp(kind->plural, "events") != 0 || (kind->flags & KIND_IS_CUSTOM);
}

static void add_definition(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct table_column *column)
{
    yyjson_mut_val *definition = yyjson_mut_arr_add_obj(doc, list);

    (void)yyjson_mut_obj_add_str(doc, definition, "name", column->name);
    (void)yyjson_mut_obj_add_str(doc, definition, "type", column->type);
    (void)yyjson_mut_obj_add_str(doc, definition, "format", column->format);
    (void)yyjson_mut_obj_add_str(doc, definition, "description", column->name);
    (void)yyjson_mut_obj_add_int(doc, definition, "priority", column->priority);
}

static void add_json(yyjson_mut_doc *doc, struct strbuf *text)
{
    size_t len = 0;
    char *json = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    BUG_ON(!json);
    strbuf_add(text, json, len);
    free(json);
    yyjson_mut_doc_free(doc);
}

/* The columns of a custom kind, as its definition has them. */
static void add_custom_definitions(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct custom_kind *custom)
{
    for (size_t i = 0; i < custom->column_count; i++) {
        const struct custom_column *column = &custom->columns[i];
        yyjson_mut_val *definition = yyjson_mut_arr_add_obj(doc, list);

        (void)yyjson_mut_obj_add_strcpy(doc, definition, "name", column->name);
        (void)yyjson_mut_obj_add_strcpy(doc, definition, "type", column->type);
        (void)yyjson_mut_obj_add_strcpy(doc, definition, "format", column->format);
        (void)yyjson_mut_obj_add_strcpy(doc, definition, "description", column->description);
        (void)yyjson_mut_obj_add_int(doc, definition, "priority", column->priority);
    }
}

static void add_custom_cells(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct custom_kind *custom,
                             yyjson_val *object, nsec_t now)
{
    yyjson_mut_doc *copy = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_val_mut_copy(copy, object);

    for (size_t i = 0; i < custom->column_count; i++)
        (void)yyjson_mut_arr_append(list, custom_column_cell(&custom->columns[i], root, now, doc));
    yyjson_mut_doc_free(copy);
}

void tables_write_columns(const struct api_kind *kind, struct strbuf *text)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc);

    yyjson_mut_doc_set_root(doc, list);
    const struct custom_kind *custom = custom_kind_of(kind);

    if (begins_with_name(kind))
        add_definition(doc, list, &name_column);
    if (custom)
        add_custom_definitions(doc, list, custom);
    for (const struct table_column *column = custom ? no_columns : columns_of(kind); column->name; column++)
        add_definition(doc, list, column);
    add_json(doc, text);
}

void tables_write_cells(const struct api_kind *kind, const char *body, size_t len, nsec_t now, struct strbuf *text)
{
    yyjson_doc *read = yyjson_read(body, len, YYJSON_READ_ALLOW_INVALID_UNICODE);
    yyjson_val *object = yyjson_doc_get_root(read);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc);

    yyjson_mut_doc_set_root(doc, list);
    const struct custom_kind *custom = custom_kind_of(kind);

    if (begins_with_name(kind))
        (void)yyjson_mut_arr_append(list, name_column.cell(object, now, doc));
    if (custom)
        add_custom_cells(doc, list, custom, object, now);
    for (const struct table_column *column = custom ? no_columns : columns_of(kind); column->name; column++)
        (void)yyjson_mut_arr_append(list, column->cell(object, now, doc));
    add_json(doc, text);
    yyjson_doc_free(read);
}

void tables_write_conditions(const struct api_kind *kind, const char *body, size_t len, struct strbuf *text)
{
    if (strcmp(kind->plural, "pods") != 0 || (kind->flags & KIND_IS_CUSTOM))
        return;
    yyjson_doc *doc = yyjson_read(body, len, YYJSON_READ_ALLOW_INVALID_UNICODE);
    const char *phase = cell_text(yyjson_doc_get_root(doc), "status.phase", "");

    if (strcmp(phase, "Succeeded") == 0)
        strbuf_addstr(text, ",\"conditions\":[{\"type\":\"Completed\",\"status\":\"True\",\"reason\":\"Succeeded\","
                            "\"message\":\"The pod has completed successfully.\"}]");
    else if (strcmp(phase, "Failed") == 0)
        strbuf_addstr(text, ",\"conditions\":[{\"type\":\"Completed\",\"status\":\"True\",\"reason\":\"Failed\","
                            "\"message\":\"The pod failed.\"}]");
    yyjson_doc_free(doc);
}
