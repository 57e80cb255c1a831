/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "console/assets/fields.h"

/* How rows of tables of members are written. */
#define END {NULL, FIELD_TEXT, 0, 0, 0, NULL, NULL}
#define TEXT(name) {name, FIELD_TEXT, 0, 1, 0, NULL, NULL}
#define TEXT_OR_EMPTY(name) {name, FIELD_TEXT, 0, 0, 0, NULL, NULL}
#define TEXT_REQUIRED(name) {name, FIELD_TEXT, FIELD_REQUIRED, 1, 0, NULL, NULL}
#define TEXT_MAX(name, max) {name, FIELD_TEXT, 0, 1, max, NULL, NULL}
#define PATH(name) {name, FIELD_PATH, 0, 1, 0, NULL, NULL}
#define SECRET(name) {name, FIELD_TEXT, FIELD_SECRET, 1, 0, NULL, NULL}
#define LABEL(name) {name, FIELD_LABEL, 0, 1, 0, NULL, NULL}
#define MODE(name) {name, FIELD_MODE, 0, 1, 0, NULL, NULL}
#define BOOL(name) {name, FIELD_BOOL, 0, 0, 0, NULL, NULL}
#define BOOL_TRUE(name) {name, FIELD_BOOL, FIELD_TRUE, 0, 0, NULL, NULL}
#define BOOL_FALSE(name) {name, FIELD_BOOL, FIELD_FALSE, 0, 0, NULL, NULL}
#define NUMBER(name) {name, FIELD_NUMBER, 0, 0, 0, NULL, NULL}
#define WHOLE(name, min, max) {name, FIELD_WHOLE, 0, min, max, NULL, NULL}
#define QUANTITY(name) {name, FIELD_QUANTITY, 0, 1, 0, NULL, NULL}
#define OPTION(name, ...) {name, FIELD_OPTION, 0, 1, 0, (const char *const[]){__VA_ARGS__, NULL}, NULL}
#define OPTION_REQUIRED(name, ...) \
    {name, FIELD_OPTION, FIELD_REQUIRED, 1, 0, (const char *const[]){__VA_ARGS__, NULL}, NULL}
#define OBJECT(name, fields) {name, FIELD_OBJECT, 0, 0, 0, NULL, fields}
#define OBJECT_REQUIRED(name, fields) {name, FIELD_OBJECT, FIELD_REQUIRED, 0, 0, NULL, fields}
#define LIST(name, fields) {name, FIELD_LIST, 0, 0, 0, NULL, fields}
#define TEXTS(name) {name, FIELD_LIST, 0, 0, 0, NULL, NULL}
#define TEXTS_OF(name, names) {name, FIELD_LIST, 0, 0, 0, names, NULL}
#define ASSET(name, ...) {name, FIELD_ASSET, 0, 1, 0, (const char *const[]){__VA_ARGS__, NULL}, NULL}
#define ASSET_REQUIRED(name, ...) \
    {name, FIELD_ASSET, FIELD_REQUIRED, 1, 0, (const char *const[]){__VA_ARGS__, NULL}, NULL}

#define ID_MAX 4294967294.0  // of users and groups
#define SECONDS_MAX 3155760000.0
#define PORT_MAX 65535
#define COUNT_MAX 0
