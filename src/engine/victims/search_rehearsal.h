/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct search;
struct search_rehearsal;

/* Rehearsals of a search's eviction plans (rehearsal.h), where it can be told beforehand in which order pods are placed. */
struct search_rehearsal *search_rehearsal_new(void);
void search_rehearsal_free(struct search_rehearsal *rehearsal);

/* Would the plan fail, as a rehearsal of it says? False also where none can tell. */
bool rehearsal_refutes(struct search *search);
