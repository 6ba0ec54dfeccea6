/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the plugins have in common: the window between the two markers of bench.h that
 * a guest executes, and the file that it is written to.
 */
#ifndef BENCH_WINDOW_H
#define BENCH_WINDOW_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "qemu-plugin.h"

static bool big_endian;
static bool counting;
static FILE *out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The plugin's own: forget what was counted, and write it. Both hold the lock. */
static void window_clear(void);
static void window_write(void);

static void marker(unsigned int vcpu, void *udata)
{
	static unsigned int row;
	uint32_t word = (uintptr_t)udata;

	pthread_mutex_lock(&lock);
	if ((word & ~0xffffu) == BENCH_MARK_START) {
		window_clear();
		row = word & 0xffff;
		counting = true;
	} else if (counting) {
		counting = false;
		fprintf(out, "window %u %u\n", row, word & 0xffff);
		window_write();
		fprintf(out, "end\n");
		fflush(out);
	}
	pthread_mutex_unlock(&lock);
}

/* The instruction at @p, bytes as in guest memory */
static uint32_t insn_word(const uint8_t *p)
{
	if (big_endian)
		return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	return (uint32_t)p[3] << 24 | p[2] << 16 | p[1] << 8 | p[0];
}

/* Has @insn, which is @word, open or close a window if it is a marker. */
static void watch_marker(struct qemu_plugin_insn *insn, uint32_t word)
{
	uint32_t mark = word & ~0xffffu;

	if (mark == BENCH_MARK_START || mark == BENCH_MARK_STOP)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, marker,
			QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)word);
}

/* Takes an argument that all plugins have. Says so, or exits if it is no good. */
static bool window_argument(const char *arg)
{
	if (!strncmp(arg, "out=", 4)) {
		out = fopen(arg + 4, "w");
		if (!out) {
			perror(arg + 4);
			exit(1);
		}
		return true;
	}
	if (!strcmp(arg, "endian=be")) {
		big_endian = true;
		return true;
	}
	return false;
}

#endif
