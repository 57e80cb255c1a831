/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct http_exchange;

/*
 * Files that are part of the program. ui/embed puts them there under a symbol, and a table names them:
 *
 *     REST_EMBEDDED(page_html);
 *     static const struct rest_file files[] = {REST_FILE("", REST_HTML, page_html)};
 */
struct rest_file {
    const char *name;
    const char *type;
    const char *text;
    const uint64_t *len;
};

#define REST_EMBEDDED(symbol)   \
    extern const char symbol[]; \
    extern const uint64_t symbol##_len
#define REST_FILE(name, type, symbol) {(name), (type), symbol, &symbol##_len}

#define REST_HTML "text/html; charset=utf-8"
#define REST_CSS "text/css; charset=utf-8"
#define REST_SCRIPT "text/javascript; charset=utf-8"
#define REST_FONT "font/woff2"

/* The file of that name; NULL where there is none. */
const struct rest_file *rest_find_file(const struct rest_file *files, size_t count, const char *name);

/*
 * Answers with the file of that name, or with 404. The answer has an ETag, and a client that names it in If-None-Match gets
 * 304. How long it may be kept is up to the caller, who sets Cache-Control.
 */
void rest_serve_file(struct http_exchange *exchange, const struct rest_file *files, size_t count, const char *name);
