// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workloads that only a module can run: a timer interrupt over kernel code, and
 * interrupts between CPUs. Loading it runs the row given as a parameter; then
 * it can be unloaded. Markers and rows are those of bench/bench.h. What the module
 * itself executes is not counted (report.c), so it may wait as long as it likes.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include <asm/time.h>

#include "bench.h"

#define WINDOWS		30
#define OPS		4
#define GAP_US		250		/* for an idle CPU to become idle again */

enum {
#define ROW_NUMBER(number, name, text)	ROW_##name = number,
	BENCH_ROWS(ROW_NUMBER)
};

static int row;
module_param(row, int, 0);

/* One operation in a window: more windows without a tick, where ticks cannot be helped */
static bool short_windows;
module_param_named(short, short_windows, bool, 0);

static atomic_t arrived;
static DEFINE_SPINLOCK(lock);

static void receive(void *unused)
{
	atomic_inc(&arrived);
}

static void receive_locked(void *unused)
{
	spin_lock(&lock);
	atomic_inc(&arrived);
	spin_unlock(&lock);
}

/* The priority hint makes the emulator run another CPU. */
static __always_inline void let_others_run(void)
{
	asm volatile("or 1,1,1; or 2,2,2" ::: "memory");
}

static __always_inline void spin(long n)
{
	asm volatile("mtctr %0; 0: bdnz 0b" :: "r" (n) : "ctr");
}

/* Until the IPI has arrived, and then until its receiver is back where it was. */
static void finish(int expected)
{
	u64 start;

	while (atomic_read(&arrived) < expected)
		let_others_run();
	atomic_set(&arrived, 0);
	start = mftb();
	while (mftb() - start < GAP_US * tb_ticks_per_usec) {
		spin(10000);
		let_others_run();
	}
}

/* A marker carries its numbers in the instruction, hence a macro. */
#define WINDOWS_OF_OPS(row, ops, expected, statement) do {	\
	for (int w = 0; w <= WINDOWS; w++) {			\
		if (w)						\
			bench_start(row);			\
		for (int i = 0; i < (ops); i++) {		\
			statement;				\
			finish(expected);			\
		}						\
		if (w)						\
			bench_stop(ops);			\
	}							\
} while (0)

#define WINDOWS_OF(row, expected, statement) do {		\
	if (short_windows)					\
		WINDOWS_OF_OPS(row, 1, expected, statement);	\
	else							\
		WINDOWS_OF_OPS(row, OPS, expected, statement);	\
} while (0)

static void timer_kernel(void)
{
	for (int w = 0; w < 10; w++) {
		bench_start(ROW_timer_kernel);
		spin(5000000);
		bench_stop(1);
	}
}

static int __init labbench_init(void)
{
	/* The last CPU, on the last node, gets a single IPI. */
	int last = num_online_cpus() - 1, others = last;

	if (row != ROW_timer_kernel && (last < 1 || !cpu_online(last)))
		return -ENODEV;

	switch (row) {
	case ROW_timer_kernel:
		timer_kernel();
		break;
	case ROW_ipi_busy:
		WINDOWS_OF(ROW_ipi_busy, 1,
			   smp_call_function_single(last, receive, NULL, 0));
		break;
	case ROW_ipi_idle:
		WINDOWS_OF(ROW_ipi_idle, 1,
			   smp_call_function_single(last, receive, NULL, 0));
		break;
	case ROW_ipi_broadcast:
		WINDOWS_OF(ROW_ipi_broadcast, others,
			   smp_call_function(receive, NULL, 0));
		break;
	case ROW_ipi_lock:
		WINDOWS_OF(ROW_ipi_lock, others,
			   smp_call_function(receive_locked, NULL, 0));
		break;
	case ROW_ipi_self:
		WINDOWS_OF(ROW_ipi_self, 1,
			   smp_call_function_single(smp_processor_id(), receive, NULL, 0));
		break;
	default:
		return -EINVAL;
	}
	return 0;
}

static void __exit labbench_exit(void)
{
}

module_init(labbench_init);
module_exit(labbench_exit);
MODULE_DESCRIPTION("Workloads for counting instructions: timer interrupts and IPIs");
MODULE_LICENSE("GPL");
