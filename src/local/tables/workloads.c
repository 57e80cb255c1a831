/* SPDX-License-Identifier: Apache-2.0 */
#include "local/tables/tables_internal.h"

const struct table_kind workload_tables[] = {{0}};
