/* SPDX-License-Identifier: Apache-2.0 */
/* Python itself has a call for other threads that want something to be done: it needs no lock of the interpreter, and the
 * main thread does it where it would also handle a signal. */
#include "gpu/tenant/memory/frameworks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/tenant/tenant.h"

typedef int run_fn(const char *text);
typedef int pending_fn(int (*call)(void *), void *arg);
typedef int is_there_fn(void);

static atomic_int is_pending;

/* With names of its own, so that those of the program stay as they are. What fails does so silently: the daemon has other
 * means against caches that stay full. */
static const char empty_caches[] = "exec('''\n"
                                   "import sys\n"
                                   "try:\n"
                                   "    torch = sys.modules.get('torch')\n"
                                   "    if torch is not None and torch.cuda.is_initialized():\n"
                                   "        torch.cuda.empty_cache()\n"
                                   "    cupy = sys.modules.get('cupy')\n"
                                   "    if cupy is not None:\n"
                                   "        cupy.get_default_memory_pool().free_all_blocks()\n"
                                   "except Exception:\n"
                                   "    pass\n"
                                   "''', {})\n";

/* In the program's main thread. A stream capture does not survive that memory is freed. */
static int empty(void *run)
{
    atomic_store(&is_pending, 0);
    if (!tenant_may_capture())
        (void)((run_fn *)run)(empty_caches);
    return 0;
}

static bool is_wanted(void)
{
    const char *wish = getenv("MUSTER_GPU_TRIM");
    return !wish || strcmp(wish, "off") != 0;
}

void frameworks_trim(void)
{
    is_there_fn *is_there = (is_there_fn *)driver_find_common("Py_IsInitialized");
    pending_fn *add_pending = (pending_fn *)driver_find_common("Py_AddPendingCall");
    run_fn *run = (run_fn *)driver_find_common("PyRun_SimpleString");
    if (!is_there || !add_pending || !run || !is_wanted() || !is_there() || atomic_exchange(&is_pending, 1))
        return;
    if (add_pending(empty, (void *)run) != 0)
        atomic_store(&is_pending, 0);
}
