/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Memory that a framework in this process keeps for later, beyond what the driver knows of. In a Python program that uses
 * PyTorch or CuPy, the main thread empties their caches between two of its own steps. Returns at once. MUSTER_GPU_TRIM=off in
 * the environment switches it off. */
void frameworks_trim(void);
