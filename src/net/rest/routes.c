/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The tree of segments. A node has plain children, sorted, one child for a parameter and one for the rest of a path.
 * Where a plain child leads to no row the parameter is tried, so a search may walk several branches, but each node at
 * most once.
 */
#include "net/rest/routes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
enum { METHOD_GET, METHOD_HEAD };
enum { METHOD_COUNT = ARRAY_LEN(methods) };

struct node {
    const char *text;  // of the pattern, not NUL-terminated
    size_t len;
    VEC(struct node *) children;
    struct node *any;
    struct node *rest;
    struct rest_row *rows[METHOD_COUNT];
};

struct rest_routes {
    struct node root;
    struct rest_row *rows;
    size_t count;
};

static int method_of(const char *text)
{
    for (int i = 0; i < METHOD_COUNT; i++) {
        if (strcmp(methods[i], text) == 0)
            return i;
    }
    return -1;
}

static int compare_segment(const struct node *node, const char *text, size_t len)
{
    int r = memcmp(node->text, text, MIN(node->len, len));

    return r != 0 ? r : (node->len > len) - (node->len < len);
}

/* Where the child is, or belongs. */
static uint32_t child_index(const struct node *node, const char *text, size_t len, bool *ret_is_there)
{
    uint32_t low = 0;
    uint32_t high = node->children.len;

    *ret_is_there = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int r = compare_segment(node->children.items[middle], text, len);

        if (r == 0) {
            *ret_is_there = true;
            return middle;
        }
        if (r < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct node *plain_child(struct node *node, const char *text, size_t len)
{
    bool is_there;
    uint32_t at = child_index(node, text, len, &is_there);

    if (!is_there) {
        struct node *child = xcalloc(1, sizeof *child);

        child->text = text;
        child->len = len;
        vec_insert_at(&node->children, at, child);
    }
    return node->children.items[at];
}

static struct node *child_at(struct node **at)
{
    if (!*at)
        *at = xcalloc(1, sizeof **at);
    return *at;
}

static int add_parameter(struct rest_row *row, const char *name, size_t len, size_t segment)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

    if (row->parameter_count == REST_PARAMETERS_MAX || len == 0 || strspn(name, letters) != len)
        return -EINVAL;
    for (size_t i = 0; i < row->parameter_count; i++) {
        if (row->parameters[i].name_len == len && memcmp(row->parameters[i].name, name, len) == 0)
            return -EINVAL;
    }
    row->parameters[row->parameter_count].name = name;
    row->parameters[row->parameter_count].name_len = len;
    row->parameters[row->parameter_count++].segment = segment;
    return 0;
}

/* The child for one segment of a pattern; NULL when the pattern is wrong. */
static struct node *add_segment(struct node *node, struct rest_row *row, const char *text, size_t len, size_t segment)
{
    bool is_rest = len > 5 && memcmp(text + len - 4, "...}", 4) == 0;

    if (len == 0 || row->has_rest || segment == URL_SEGMENTS_MAX)
        return NULL;
    if (text[0] != '{') {
        bool is_plain = !memchr(text, '{', len) && !memchr(text, '}', len) && !memchr(text, '%', len);

        return is_plain ? plain_child(node, text, len) : NULL;
    }
    if (text[len - 1] != '}' || add_parameter(row, text + 1, len - (is_rest ? 5 : 2), segment) < 0)
        return NULL;
    row->has_rest = is_rest;
    return child_at(is_rest ? &node->rest : &node->any);
}

static int add_row(struct rest_routes *routes, struct rest_row *row, struct err *err)
{
    const struct rest_route *route = row->route;
    struct node *node = &routes->root;
    int method = method_of(route->method);
    size_t segment = 0;

    if (method < 0 || method == METHOD_HEAD || route->path[0] != '/' || !route->handler)
        return err_set(err, -EINVAL, "route %s %s: not a method and a path with a handler", route->method, route->path);
    for (const char *at = route->path + 1; *at && node;) {
        size_t len = strcspn(at, "/");

        node = add_segment(node, row, at, len, segment++);
        at += len + (at[len] == '/');
    }
    if (!node)
        return err_set(err, -EINVAL,
                       "route %s %s: segments are plain text, {name}, or {name...} as the last one, with up to %d "
                       "different names",
                       route->method, route->path, REST_PARAMETERS_MAX);
    if (node->rows[method])
        return err_set(err, -EEXIST, "route %s %s: answers the same requests as %s", route->method, route->path,
                       node->rows[method]->route->path);
    node->rows[method] = row;
    return 0;
}

int rest_routes_new(const struct rest_set *sets, size_t set_count, struct rest_routes **ret_routes, struct err *err)
{
    struct rest_routes *routes = xcalloc(1, sizeof *routes);
    size_t count = 0;
    int r = 0;

    for (size_t i = 0; i < set_count; i++)
        count += sets[i].count;
    if (count > REST_ROUTES_MAX)
        r = err_set(err, -EINVAL, "%zu routes: at most %d", count, REST_ROUTES_MAX);
    else if (count > 0)
        routes->rows = xcalloc(count, sizeof *routes->rows);
    for (size_t i = 0; i < set_count && r == 0; i++) {
        for (size_t j = 0; j < sets[i].count && r == 0; j++) {
            struct rest_row *row = &routes->rows[routes->count++];

            *row = (struct rest_row){.route = &sets[i].routes[j], .arg = sets[i].arg};
            r = add_row(routes, row, err);
        }
    }
    if (r < 0)
        rest_routes_free(routes);
    else
        *ret_routes = routes;
    return r;
}

static void node_done(struct node *node)
{
    if (!node)
        return;
    vec_foreach (&node->children, child) {
        node_done(*child);
        free(*child);
    }
    vec_done(&node->children);
    node_done(node->any);
    free(node->any);
    node_done(node->rest);
    free(node->rest);
}

void rest_routes_free(struct rest_routes *routes)
{
    if (!routes)
        return;
    node_done(&routes->root);
    free(routes->rows);
    free(routes);
}

struct search {
    const struct url_path *path;
    int method;                 // -1: one that no row can have
    bool allows[METHOD_COUNT];  // methods of the nodes that have the path
    struct rest_row *found;
};

static bool take(struct search *search, const struct node *node)
{
    if (!node)
        return false;
    for (int i = 0; i < METHOD_COUNT; i++)
        search->allows[i] |= node->rows[i] != NULL;
    search->found = search->method < 0 ? NULL : node->rows[search->method];
    return search->found;
}

static bool find(struct search *search, const struct node *node, size_t at)
{
    bool is_there;

    if (!node)
        return false;
    if (at == search->path->count)
        return take(search, node) || take(search, node->rest);
    const char *text = url_path_segment(search->path, at);
    uint32_t child = child_index(node, text, strlen(text), &is_there);

    return (is_there && find(search, node->children.items[child], at + 1)) || find(search, node->any, at + 1) ||
           take(search, node->rest);
}

int rest_routes_find(const struct rest_routes *routes, const char *method, const struct url_path *path,
                     struct rest_row **ret_row, char allow[static 64])
{
    struct search search = {.path = path, .method = method_of(method)};
    size_t used = 0;

    if (search.method == METHOD_HEAD)
        search.method = METHOD_GET;
    if (find(&search, &routes->root, 0)) {
        *ret_row = search.found;
        return 0;
    }
    search.allows[METHOD_HEAD] = search.allows[METHOD_GET];
    for (int i = 0; i < METHOD_COUNT; i++) {
        if (search.allows[i])
            used += (size_t)snprintf(allow + used, 64 - used, "%s%s", used ? ", " : "", methods[i]);
    }
    return used ? -EOPNOTSUPP : -ENOENT;
}
