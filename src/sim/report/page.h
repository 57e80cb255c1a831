/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* One HTML page that holds its style, its script and its data, and makes no requests. ui/report has the frame. */
struct page {
    const char *title;
    const char *script;
    size_t script_len;
    const char *data;  // JSON
    size_t data_len;
};

/* Write errors stay in `out`. */
void page_write(FILE *out, const struct page *page);

/* The page of `muster shadow`: `data` is what it prints as JSON. */
void page_write_shadow(FILE *out, const char *title, const char *data, size_t len);
