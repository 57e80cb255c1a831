/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "console/changes/changes.h"
#include "console/data/items.h"
#include "console/org/pools.h"
#include "console/org/wants.h"
#include "console/rest/context.h"

static const char *text_at(yyjson_val *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(item, pointer));

    return text ? text : "";
}

int sync_note(struct console *console, const struct sync_item *item, const char *action, struct err *err)
{
    yyjson_val *root = yyjson_doc_get_root(item->doc);
    bool is_project = strcmp(item->kind, ITEM_PROJECT) == 0;
    bool is_department = strcmp(item->kind, ITEM_DEPARTMENT) == 0;
    struct change_row row = {.type = item->kind, .action = action, .id = item->id, .name = text_at(root, "/name")};
    struct place place = {0};

    if (is_project || is_department) {
        row.scope = is_project ? SCOPE_PROJECT : SCOPE_DEPARTMENT;
        row.department = is_project ? text_at(root, "/parentId") : item->id;
        row.project = is_project ? item->id : NULL;
    } else if (strcmp(item->kind, ITEM_NODE_POOL) != 0) {
        place_load(yyjson_obj_get(root, "place"), &place);
        row.type = item->kind + strlen("asset:");
        row.name = text_at(root, "/meta/name");
        row.scope = place.scope;
        row.department = place.department;
        row.project = place.project;
        row.owner = yyjson_get_bool(yyjson_ptr_get(root, "/meta/private")) ? text_at(root, "/owner") : NULL;
    }
    return change_add(console->db, console->process, &row, err);
}
