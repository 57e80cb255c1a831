/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/vec.h"

struct strbuf;

/*
 * What is wrong with the fields of an object: the causes of a Status with code 422, in the words of the Kubernetes API
 * server, which people and programs know:
 *
 *     spec.levels[0].name: Invalid value: "A": must be lower case
 *
 * A field is a chain of steps on the stack, so that a walk over an object builds no text until something is wrong:
 *
 *     const struct field spec = field_member(NULL, "spec");
 *     const struct field level = field_item(&levels, i);
 *     problem_required(problems, FIELD(&level, "name"), "");
 */
enum field_step {
    FIELD_MEMBER,  // .name
    FIELD_KEY,     // [name], of a map
    FIELD_ITEM,    // [index]
};

struct field {
    const struct field *parent;  // NULL: the object itself
    const char *name;
    size_t index;
    enum field_step step;
    bool is_body;  // problems of custom kinds name members from here on
};

static inline struct field field_member(const struct field *parent, const char *name)
{
    return (struct field){.parent = parent, .name = name, .step = FIELD_MEMBER};
}

static inline struct field field_key(const struct field *parent, const char *key)
{
    return (struct field){.parent = parent, .name = key, .step = FIELD_KEY};
}

static inline struct field field_item(const struct field *parent, size_t index)
{
    return (struct field){.parent = parent, .index = index, .step = FIELD_ITEM};
}

/* A member without a name of its own, for as long as the block that it is in. */
#define FIELD(parent_field, member) (&(const struct field){.parent = (parent_field), .name = (member)})

/* "spec.levels[0].name"; "" for NULL. */
void field_format(const struct field *field, struct strbuf *text);

enum problem_reason {
    PROBLEM_REQUIRED,
    PROBLEM_INVALID,
    PROBLEM_NOT_SUPPORTED,
    PROBLEM_DUPLICATE,
    PROBLEM_FORBIDDEN,
    PROBLEM_TOO_LONG,
    PROBLEM_TOO_MANY,
    PROBLEM_TOO_FEW,
    PROBLEM_TOO_SHORT,
    PROBLEM_TYPE_INVALID,
    PROBLEM_NOT_FOUND,
    PROBLEM_INTERNAL,
};

struct problem {
    enum problem_reason reason;
    char *field;
    char *message;  // "Invalid value: \"A\": must be lower case"
};

/* All zeros is an empty list. It keeps the first PROBLEMS_MAX and their texts cut at PROBLEM_BYTES_MAX, since the object
 * that has them comes from outside. */
enum { PROBLEMS_MAX = 1000, PROBLEM_BYTES_MAX = 16 << 10 };

struct problems {
    VEC(struct problem) list;
};

void problems_done(struct problems *problems);

static inline bool problems_any(const struct problems *problems)
{
    return problems->list.len > 0;
}

/*
 * One problem each. `value` is the value in question as it is shown, NULL when there is none to show; `detail` may be "".
 */
void problem_required(struct problems *problems, const struct field *field, const char *detail);
void problem_forbidden(struct problems *problems, const struct field *field, const char *detail);
void problem_invalid(struct problems *problems, const struct field *field, yyjson_mut_val *value, const char *detail);
void problem_invalid_text(struct problems *problems, const struct field *field, const char *value, const char *detail);
void problem_invalid_number(struct problems *problems, const struct field *field, int64_t value, const char *detail);
void problem_type(struct problems *problems, const struct field *field, yyjson_mut_val *value, const char *detail);
void problem_duplicate(struct problems *problems, const struct field *field, yyjson_mut_val *value);
void problem_not_found(struct problems *problems, const struct field *field, yyjson_mut_val *value);
void problem_too_long(struct problems *problems, const struct field *field, size_t max_bytes);
void problem_too_many(struct problems *problems, const struct field *field, size_t count, size_t max);

/* `supported` are the values that are, separated by spaces, in the order in which they are shown. */
void problem_not_supported(struct problems *problems, const struct field *field, yyjson_mut_val *value,
                           const char *supported);

/* Any other: `message` is the whole text behind the field. */
void problem_add(struct problems *problems, enum problem_reason reason, const struct field *field, const char *message);

/* A value as problems show it: text in quotes, anything else as JSON. */
void problem_show_value(yyjson_mut_val *value, struct strbuf *text);

/* "FieldValueInvalid" and so on. */
const char *problem_reason_name(enum problem_reason reason);

/* The message of the Status: Deployment.apps "web" is invalid: spec.replicas: Invalid value: ... */
void problems_message(const struct problems *problems, const char *group, const char *kind, const char *name,
                      struct strbuf *text);

/* The causes of the Status's details: [{reason, message, field}], copied into `doc`. */
yyjson_mut_val *problems_causes(const struct problems *problems, yyjson_mut_doc *doc);
