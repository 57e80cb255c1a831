/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The types of Kubernetes' built-in kinds: every struct with its members, as facts that protobuf bodies, the check of
 * fields, OpenAPI documents and server-side apply share. The tables are constant and made by scripts/local-types.go.
 */

/* What a member holds, or each element of one that is a list or a map. From TYPE_MESSAGE on: the struct with that number. */
enum type_kind {
    TYPE_STRING,
    TYPE_BOOL,
    TYPE_INT32,
    TYPE_INT64,
    TYPE_DOUBLE,
    TYPE_BYTES,            // base64 in JSON
    TYPE_QUANTITY,         // "500m"
    TYPE_INT_OR_STRING,    // 80 or "http"
    TYPE_TIME,             // seconds
    TYPE_MICRO_TIME,       // microseconds
    TYPE_DURATION,         // "1m30s"
    TYPE_RAW,              // any JSON
    TYPE_STRINGS,          // a list of text, as the value of a map
    TYPE_SCHEMA_OR_BOOL,   // of a JSON schema: true, false, or a schema
    TYPE_SCHEMA_OR_LIST,   // a schema or a list of them
    TYPE_SCHEMA_OR_NAMES,  // a schema or a list of text
    TYPE_MESSAGE = 32,
};

enum type_row_flags {
    ROW_POINTER = 1 << 0,  // zero and absent differ
    ROW_LIST = 1 << 1,
    ROW_MAP = 1 << 2,         // from text
    ROW_OMIT_EMPTY = 1 << 3,  // written only when not empty; a struct is never empty
    ROW_OMIT_ZERO = 1 << 4,   // a struct too
    ROW_INLINE = 1 << 5,      // a message on the wire; in JSON its members are among those around it
    ROW_OPTIONAL = 1 << 6,
    ROW_ATOMIC = 1 << 7,  // server-side apply: owned as a whole
    ROW_SET = 1 << 8,     // a list without order or repetitions
    ROW_KEYED = 1 << 9,   // a list whose elements are told apart by keys
    ROW_PATCH_MERGE = 1 << 10,
    ROW_PATCH_RETAIN_KEYS = 1 << 11,
    ROW_PATCH_REPLACE = 1 << 12,
};

/* A member. Names are read by the functions below. */
struct type_row {
    uint16_t name;
    uint16_t go_name;
    uint16_t number;  // on the wire
    uint16_t type;
    uint16_t flags;
};

enum { TYPE_IS_KIND = 1 };  // has apiVersion and kind

struct type {
    uint16_t name;
    uint16_t package;
    uint16_t first;  // of its rows
    uint16_t count;
    uint16_t flags;
};

/* A kind by what its objects say: "apps", "v1", "Deployment". Kinds such as DeleteOptions belong to every group. NULL when
 * there is none. */
const struct type *type_find(const char *group, const char *version, const char *kind);

/* The same by "apps/v1", as apiVersion has it. */
const struct type *type_find_in(const char *api_version, const char *kind);

/* All structs, by number; NULL past the last one. */
const struct type *type_at(size_t index);
size_t type_index(const struct type *type);

const char *type_name(const struct type *type);     // "Container"
const char *type_package(const struct type *type);  // "io.k8s.api.core.v1"
const char *type_group(const struct type *type);    // "apps"; "" for the core
const char *type_version(const struct type *type);  // "v1"

/* The members in order; inlined structs are members here. */
const struct type_row *type_rows(const struct type *type);

/* A member by its name in JSON, also one of an inlined struct. NULL when there is none. */
const struct type_row *type_member(const struct type *type, const char *name);

/* A member by its number on the wire. */
const struct type_row *type_numbered(const struct type *type, uint64_t number);

const char *row_name(const struct type_row *row);

/* The struct that the member holds or has elements of; NULL for any other kind. */
const struct type *row_struct(const struct type_row *row);

/* The keys of a ROW_KEYED list, separated by spaces; and the key by which a strategic patch merges a list. "": none. */
const char *row_list_keys(const struct type_row *row);
const char *row_merge_key(const struct type_row *row);

/* As Go names the member's type, such as "int32", "[]v1.Container" or "v1.ResourceList". With `is_element`, the type of
 * an element of it. Returns `text`. */
enum { TYPE_GO_NAME_MAX = 160 };
const char *row_go_type(const struct type_row *row, bool is_element, char text[static TYPE_GO_NAME_MAX]);

/* The schema of a CustomResourceDefinition, which some values may hold in place of something else. */
const struct type *type_schema(void);
bool type_is_schema(const struct type *type);
