/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The process that the processes beside pods are forked from. Starting the program takes longer than all that a short pod
 * does: dozens of libraries are loaded and linked. This process has done it once. It is started by the node agent with a
 * socket of packets as its standard input, each of which is the folder of a pod, and ends when nobody is at the other end.
 * Whether a folder has a process already is decided by the pod's lock, not here.
 */

/* Returns an exit status: in the process that was started, and in every one that was forked from it. */
int spawner_main(void);
