/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/time.h"

/* One column: its definition, and how its cell follows from an object. */
struct table_column {
    const char *name;
    const char *type;    // "string", "integer", "date"
    const char *format;  // "name" for the name of the object, else ""
    int priority;        // above 0: only with -o wide
    yyjson_mut_val *(*cell)(yyjson_val *object, nsec_t now, yyjson_mut_doc *out);
};

/* The columns of one kind, behind the name where that is the first one; ended by a column without a name. */
struct table_kind {
    const char *group;
    const char *plural;
    const struct table_column *columns;
};

extern const struct table_kind pod_tables[];       // pods and nodes
extern const struct table_kind workload_tables[];  // apps and batch
extern const struct table_kind policy_tables[];    // autoscalers and disruption budgets
extern const struct table_kind storage_tables[];   // volumes, claims and drivers
extern const struct table_kind cluster_tables[];   // rights, networks, devices
extern const struct table_kind other_tables[];

/* --- For cells --- */

/* The value at "spec.nodeName"; NULL without one. */
yyjson_val *cell_at(yyjson_val *object, const char *path);
const char *cell_text(yyjson_val *object, const char *path, const char *fallback);
int64_t cell_number(yyjson_val *object, const char *path);
yyjson_mut_val *cell_copy(yyjson_val *object, const char *path, const char *fallback, yyjson_mut_doc *out);

/* The time since the one at the path: "<unknown>" without one. */
yyjson_mut_val *cell_since(yyjson_val *object, const char *path, nsec_t now, yyjson_mut_doc *out);
yyjson_mut_val *cell_age(yyjson_val *object, nsec_t now, yyjson_mut_doc *out);

/* "a,b" of the names or images of the containers of a pod template. */
yyjson_mut_val *cell_containers(yyjson_val *list, const char *member, yyjson_mut_doc *out);

/* "a=b,c=d" of labels, by name; "<none>" without any. */
yyjson_mut_val *cell_labels(yyjson_val *labels, yyjson_mut_doc *out);

/* "app=web,tier in (a,b)" of a label selector, "<none>" without one. */
yyjson_mut_val *cell_selector(yyjson_val *selector, yyjson_mut_doc *out);

/* A function for a cell that is one member of the object, or the number of its elements. */
#define CELL_TEXT(function, path, fallback)                                              \
    static yyjson_mut_val *function(yyjson_val *object, nsec_t now, yyjson_mut_doc *out) \
    {                                                                                    \
        (void)now;                                                                       \
        return cell_copy(object, path, fallback, out);                                   \
    }
#define CELL_NUMBER(function, path)                                                      \
    static yyjson_mut_val *function(yyjson_val *object, nsec_t now, yyjson_mut_doc *out) \
    {                                                                                    \
        (void)now;                                                                       \
        return yyjson_mut_sint(out, cell_number(object, path));                          \
    }
#define CELL_BOOL(function, path)                                                        \
    static yyjson_mut_val *function(yyjson_val *object, nsec_t now, yyjson_mut_doc *out) \
    {                                                                                    \
        (void)now;                                                                       \
        return yyjson_mut_bool(out, yyjson_is_true(cell_at(object, path)));              \
    }
#define CELL_COUNT(function, path)                                                       \
    static yyjson_mut_val *function(yyjson_val *object, nsec_t now, yyjson_mut_doc *out) \
    {                                                                                    \
        (void)now;                                                                       \
        return yyjson_mut_uint(out, yyjson_arr_size(cell_at(object, path)));             \
    }
