/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct page_objects;
struct request;

/* The most bytes of a list in one answer. */
enum { LIST_BYTES_MAX = 1 << 30 };

/* Answers with a whole list. The objects stay the caller's. */
void list_answer(struct request *request, const struct page_objects *objects, uint64_t version);
