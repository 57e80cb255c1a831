/* SPDX-License-Identifier: Apache-2.0 */

/* Files of any source, told apart by what they hold. */
#include "convert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    convert_any(NULL, data, size);
    return 0;
}
