/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Memory that graphs allocate when they run. */

/* An allocation has gone into a graph, by its own node or by capture: from now on launches are looked at. */
void graphs_note_memory(void);
