/* SPDX-License-Identifier: Apache-2.0 */

/* Lists of templates of workloads, and whether a name is free. */
#include <errno.h>
#include <string.h>

#include "console/data/items.h"
#include "console/org/place.h"
#include "console/rest/handlers.h"
#include "console/rest/listing.h"
#include "console/templates/templates_internal.h"
#include "console/workloads/kinds.h"

static const char *text_at(yyjson_val *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(item, pointer));

    return text ? text : "";
}

static const struct listing_field fields[] = {
    {"name", "/meta/name"},
    {"workloadType", "/meta/workloadType"},
    {"scopeType", "/meta/scopeType"},
    {"clusterId", "/meta/clusterId"},
    {"projectId", "/meta/projectId"},
    {"departmentId", "/meta/departmentId"},
    {"createdAt", "/meta/createdAt"},
    {"updatedAt", "/meta/updatedAt"},
    {"createdBy", "/meta/createdBy"},
    {"updatedBy", "/meta/updatedBy"},
    {NULL, NULL},
};
static const struct listing_kind template_listing = {fields, "/meta/name", 50, 500};

struct template_walk {
    struct request *request;
    const struct workload_kind *kind;
    struct listing_rows *rows;
    struct err *err;
};

static int add_template(void *arg, yyjson_val *item)
{
    struct template_walk *walk = arg;
    bool is_visible = false;
    struct place place;

    if (walk->kind && strcmp(walk->kind->type, text_at(item, "/type")) != 0)
        return 0;
    place_load(yyjson_obj_get(item, "place"), &place);
    int r = place_is_visible(walk->request, RESOURCE_TEMPLATES, &place, &is_visible, walk->err);
    if (is_visible)
        vec_push(walk->rows, template_render(walk->request, item));
    return r;
}

static int load(struct request *request, struct listing_rows *rows, struct listing_page *page, int64_t *ret_total,
                int64_t *ret_next, struct err *err)
{
    struct template_walk walk = {request, template_kind(request), rows, err};
    int r = items_each(request->console->db, ITEM_WORKLOAD_TEMPLATE, NULL, add_template, &walk, err);

    if (r == 0)
        r = listing_page(request->exchange, &template_listing, page, err);
    return r < 0 ? r : listing_apply(request->exchange, &template_listing, rows, ret_total, ret_next, err);
}

static int list_workload_templates(struct request *request, struct err *err)
{
    struct listing_rows rows = {0};
    struct listing_page page = {0};
    int64_t total = 0, next = -1;
    int r = load(request, &rows, &page, &total, &next, err);

    if (r == 0) {
        yyjson_mut_doc *doc = request->doc;

        request->answer = yyjson_mut_obj(doc);
        (void)yyjson_mut_obj_add_val(doc, request->answer, "entries", rows_array(request, &rows));
        yyjson_mut_val *pagination = yyjson_mut_obj_add_obj(doc, request->answer, "pagination");
        (void)yyjson_mut_obj_add_sint(doc, pagination, "limit", page.limit);
        (void)yyjson_mut_obj_add_sint(doc, pagination, "offset", page.offset);
        if (next >= 0)
            (void)yyjson_mut_obj_add_sint(doc, pagination, "nextOffset", next);
    }
    vec_done(&rows);
    return r;
}
READS(handle_list_workload_templates, list_workload_templates)

static int count_workload_templates(struct request *request, struct err *err)
{
    struct listing_rows rows = {0};
    struct listing_page page = {0};
    int64_t total = 0, next = -1;
    int r = load(request, &rows, &page, &total, &next, err);

    vec_done(&rows);
    answer_count(request, total);
    return r;
}
READS(handle_count_workload_templates, count_workload_templates)

static int check_template_name(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *name = rest_query(request->exchange, "templateName");
    const char *scope = rest_query(request->exchange, "scopeType");
    char key[PLACE_KEY_MAX];
    struct place place;
    int r;

    if (!name || !scope)
        return err_set(err, -EINVAL, "expected the parameters templateName and scopeType");
    if ((r = template_scope(request, scope, rest_query(request->exchange, "scopeId"), &place, err)) < 0)
        return r;
    if (!place_allows(&request->caller->access, RESOURCE_TEMPLATES, ACTION_READ, &place))
        return err_set(err, -EACCES, "'%.100s' may not read the templates of this scope", request->caller->name);
    r = item_find(request->console->db, ITEM_WORKLOAD_TEMPLATE, place_key(&place, key), name, &doc, err);
    if (r == 0)
        return err_set(err, -EEXIST, "the scope has a template '%.100s'", name);
    request->status = 204;
    return r == -ENOENT ? 0 : r;
}
static const char *const name_queries[] = {"templateName", "scopeType", "scopeId", NULL};
READS_BY(handle_check_template_name, check_template_name, name_queries)
