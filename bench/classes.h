/* SPDX-License-Identifier: GPL-2.0-only */
/* Instruction classes: see classes.c */
#ifndef BENCH_CLASSES_H
#define BENCH_CLASSES_H

#include <stdint.h>

/**
 * class_of - what kind of instruction is this?
 * @word: the instruction (of a prefixed one, the first word)
 * @buf: room for names that carry a number, 32 bytes
 *
 * Returns the name of the class: plain, load, store, branch, and by name the
 * ones that cost more than those: "mtspr SRR0", "isync", "larx", "rfid", ...
 */
const char *class_of(uint32_t word, char *buf);

#endif
