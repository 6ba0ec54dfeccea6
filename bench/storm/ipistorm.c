// SPDX-License-Identifier: GPL-2.0-only
/*
 * All CPUs send IPIs at the same time, each to the next one of its node: what goes from
 * node to node then is not for the IPIs' sake. A CPU that is alone on its node sends to
 * the next one of all. Runs while it is loaded; markers of bench/bench.h. Its own code is
 * not counted (storm.awk), so it may wait as it likes.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/smp.h>

#include "bench.h"

#define ROW_STORM	30
#define WINDOWS		12
#define OPS		4		/* by each CPU in a window */

struct one {
	call_single_data_t csd;
	int sent;
	int got ____cacheline_aligned;	/* written by the receiver */
	struct task_struct *task;
} ____cacheline_aligned;

static struct one one[NR_CPUS];		/* by sender */
static atomic_t arrived, running;
static int nr;

/* The priority hint makes the emulator run another CPU. */
static __always_inline void let_others_run(void)
{
	asm volatile("or 1,1,1; or 2,2,2" ::: "memory");
}

static void receive(void *sender)
{
	struct one *o = sender;

	WRITE_ONCE(o->got, o->got + 1);
}

/* All CPUs are here for the @step-th time. */
static void meet(int step)
{
	atomic_inc(&arrived);
	while (atomic_read(&arrived) < step * nr)
		let_others_run();
}

/* Of its node, or, if it is alone on it, of all CPUs */
static int next_cpu(int cpu)
{
	int next = cpu, first = -1;

	do {
		next = cpumask_next_wrap(next, cpu_online_mask, -1, false);
		if (first < 0 && next < nr_cpu_ids)
			first = next;
	} while (next >= nr_cpu_ids || cpu_to_node(next) != cpu_to_node(cpu));
	return next == cpu ? first : next;
}

static int storm(void *unused)
{
	int me = smp_processor_id(), to = next_cpu(me), step = 0, i, w;
	bool first = me == cpumask_first(cpu_online_mask);
	struct one *o = &one[me];

	for (w = 0; w <= WINDOWS; w++) {
		meet(++step);
		if (first && w)
			bench_start(ROW_STORM);
		meet(++step);
		for (i = 0; i < OPS; i++) {
			smp_call_function_single_async(to, &o->csd);
			o->sent++;
			while (READ_ONCE(o->got) != o->sent)
				let_others_run();
		}
		meet(++step);
		if (first && w)
			bench_stop(OPS);
		cond_resched();
	}
	atomic_dec(&running);
	while (!kthread_should_stop())
		usleep_range(1000, 2000);
	return 0;
}

static int __init ipistorm_init(void)
{
	int cpu;

	nr = num_online_cpus();
	atomic_set(&running, nr);
	for_each_online_cpu(cpu) {
		INIT_CSD(&one[cpu].csd, receive, &one[cpu]);
		one[cpu].task = kthread_create_on_cpu(storm, NULL, cpu, "ipistorm/%u");
		if (IS_ERR(one[cpu].task))
			return -ENOMEM;
	}
	for_each_online_cpu(cpu)
		wake_up_process(one[cpu].task);
	while (atomic_read(&running))
		msleep(10);
	for_each_online_cpu(cpu)
		kthread_stop(one[cpu].task);
	pr_info("ipistorm: %d CPUs sent %d IPIs each\n", nr, (WINDOWS + 1) * OPS);
	return 0;
}

static void __exit ipistorm_exit(void)
{
}

module_init(ipistorm_init);
module_exit(ipistorm_exit);
MODULE_DESCRIPTION("IPIs within each node, all CPUs at once");
MODULE_LICENSE("GPL");
