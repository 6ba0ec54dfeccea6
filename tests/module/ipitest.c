// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does each IPI arrive? Every CPU sends to every other at the same time, in rounds of
 * one message for each pair, and no round starts before the last has arrived: an IPI
 * that is lost is not made good by the next one. What arrived is counted by the
 * receiver, for each sender, and compared. In the end each CPU sends "NMI IPIs" to each
 * other, if the kernel has them: by message, and as real NMIs whose handlers send IPIs.
 *
 *	rounds=N	run N rounds while the module loads; the load fails if one is late
 *	flood=N		instead, N passes over all CPUs without a meeting in between: each CPU
 *			sends the next message to another one as soon as that has the last,
 *			which makes for many more IPIs in the same time
 *	storm=CPUS	instead, CPUs 0 to CPUS-1 send to all that are online until the
 *			module is unloaded; lost then says how many never came
 *	xive=1		powernv: IPIs by XIVE and not by doorbell, until the end
 *	lose=N		every Nth interrupt is not sent, which has to be found
 *
 * Results: parameters "sent" and "lost", and a line in the log for each kind.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/kernel_stat.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/semaphore.h>
#include <linux/smp.h>

#include <asm/mmu.h>
#include <asm/smp.h>

#define MAX		32		/* CPUs */
#define LATE_MS		8000		/* an emulator can be slow */
#define NMI_MS		100		/* those of a hypervisor come at once */
#define BURST		64

static int rounds = 100, flood, storm, xive, lose;
module_param(rounds, int, 0);
module_param(flood, int, 0);
module_param(storm, int, 0);
module_param(xive, int, 0);
module_param(lose, int, 0);
static ulong sent, lost;
module_param(sent, ulong, 0444);
module_param(lost, ulong, 0444);

enum {
	ASYNC, WAIT, MANY, MANY_WAIT, IRQ_WORK, PONG, WAKE, SELF, ROUND_KINDS,
	SAFE_NMI = ROUND_KINDS, FROM_NMI, KINDS
};
static const char * const kind_name[KINDS] = {
	"function call", "function call, waiting", "broadcast", "broadcast, waiting",
	"irq_work", "function call from an interrupt, and back", "wake-up",
	"reschedule to itself, soft-masked", "NMI by message", "reschedule from an NMI",
};

/* What a pair of CPUs has: written by one of them alone. */
struct pair {
	unsigned long n;
} ____cacheline_aligned;

static struct pair sent_to[MAX][MAX];		/* [sender][receiver] */
static struct pair got_from[MAX][MAX];		/* [receiver][sender] */
static struct pair pings[MAX][MAX], pong_from[MAX][MAX];
static call_single_data_t csd[MAX][MAX], csd_back[MAX][MAX];
static struct irq_work work[MAX][MAX];
static struct semaphore sem[MAX];
static atomic_long_t ups[MAX], woken[MAX];
static unsigned long kind_sent[MAX][KINDS];
static struct task_struct *sender[MAX], *sleeper[MAX];
static cpumask_t cpus;
static int nr;
static atomic_t arrived, running, stuck;
static bool stop;

#define ID(s, t)	((void *)(long)((s) * MAX + (t)))
#define SENDER(info)	((long)(info) / MAX)
#define TARGET(info)	((long)(info) % MAX)

static void count(void *info)
{
	/* The info of a broadcast has no receiver. */
	WRITE_ONCE(got_from[smp_processor_id()][SENDER(info)].n,
		   got_from[smp_processor_id()][SENDER(info)].n + 1);
}

static void count_work(struct irq_work *w)
{
	count(ID((w - &work[0][0]) / MAX, 0));
}

static void pong(void *info)
{
	int me = smp_processor_id();

	WRITE_ONCE(pong_from[me][TARGET(info)].n, pong_from[me][TARGET(info)].n + 1);
}

static void ping(void *info)
{
	count(info);
	smp_call_function_single_async(SENDER(info), &csd_back[SENDER(info)][TARGET(info)]);
}

static int sleep_loop(void *unused)
{
	int me = smp_processor_id();

	while (!down_interruptible(&sem[me]) && !kthread_should_stop())
		atomic_long_inc(&woken[me]);
	return 0;
}

/* Interrupts of this kind or that: IPIs may be doorbells. */
static unsigned long interrupts(int cpu)
{
	return READ_ONCE(kstat_cpu(cpu).irqs_sum) + READ_ONCE(per_cpu(irq_stat, cpu).doorbell_irqs);
}

static bool over(u64 start)
{
	return READ_ONCE(stop) || ktime_get_ns() - start > LATE_MS * 1000000ull;
}

/* The priority hint makes an emulator with one thread run another CPU. */
static __always_inline void let_others_run(void)
{
	asm volatile("or 1,1,1; or 2,2,2" ::: "memory");
}

/* Let time pass: idle, busy, or busy and soft-masked for a while. */
static void pass(int how)
{
	unsigned long flags;

	switch (how % 3) {
	case 0:
		usleep_range(50, 100);
		break;
	case 1:
		let_others_run();
		cond_resched();
		break;
	default:
		local_irq_save(flags);
		udelay(5);
		local_irq_restore(flags);
		let_others_run();
		cond_resched();
	}
}

/* All CPUs are here, or the test is over. */
static bool meet(int round)
{
	u64 start = ktime_get_ns();

	atomic_inc(&arrived);
	while (atomic_read(&arrived) < (round + 1) * nr && !over(start))
		pass(round);
	return atomic_read(&arrived) >= (round + 1) * nr && !READ_ONCE(stop);
}

static void late(int kind, int me, int t, long by)
{
	pr_err("ipitest: LOST: %s, CPU %d to CPU %d: %ld\n", kind_name[kind], me, t, by);
	lost += by;
	WRITE_ONCE(stop, true);
}

/* Kernel functions that modules have no symbol of */
static bool (*queue_on)(struct irq_work *w, int cpu);
static int (*send_nmi)(int cpu, void (*fn)(struct pt_regs *regs), u64 delay_us);
static int (*send_safe_nmi)(int cpu, void (*fn)(struct pt_regs *regs), u64 delay_us);
static void (*old_cause_ipi)(int cpu), (*new_cause_ipi)(int cpu);
static struct smp_ops_t **ops;

static void lose_some(int cpu)
{
	static atomic_t n;

	if (atomic_inc_return(&n) % lose)
		new_cause_ipi(cpu);
}

static int find_functions(void)
{
	static struct kprobe kp = { .symbol_name = "kallsyms_lookup_name" };
	unsigned long (*lookup)(const char *name);
	void (*cause_ipi)(int cpu);
	char where[KSYM_SYMBOL_LEN];
	int err = register_kprobe(&kp);

	if (err)
		return err;
	unregister_kprobe(&kp);
	/*
	 * A call from a module takes the global entry point; the probe is behind it, at the
	 * local one or where ftrace is.
	 */
	sprint_symbol(where, (unsigned long)kp.addr);
	lookup = (void *)kp.addr - simple_strtoul(strchrnul(where, '+') + 1, NULL, 16);
	queue_on = (void *)lookup("irq_work_queue_on");
	ops = (void *)lookup("smp_ops");
	cause_ipi = (void *)lookup("xive_cause_ipi");
	/* Only there with kexec, xmon or a lockup detector */
	send_nmi = (void *)lookup("smp_send_nmi_ipi");
	send_safe_nmi = (void *)lookup("smp_send_safe_nmi_ipi");
	if (!queue_on || !ops || !cause_ipi)
		return -ENOENT;
	if (xive > 0 || lose > 0) {
		old_cause_ipi = (*ops)->cause_ipi;
		new_cause_ipi = xive > 0 ? cause_ipi : old_cause_ipi;
		WRITE_ONCE((*ops)->cause_ipi, lose > 0 ? lose_some : new_cause_ipi);
	}
	return 0;
}

/* Has @t got all that @me sent, and answered? */
static bool in_flight(int me, int t)
{
	return READ_ONCE(got_from[t][me].n) != sent_to[me][t].n ||
		READ_ONCE(pong_from[me][t].n) != pings[me][t].n;
}

/* The same, as soon as it is so; false: too late */
static bool arrived_soon(int kind, int me, int t)
{
	u64 start = ktime_get_ns();
	int k;

	for (k = 1; in_flight(me, t); k++) {
		let_others_run();
		if (k % 1024)
			continue;
		cond_resched();
		if (over(start)) {
			if (!READ_ONCE(stop))
				late(kind, me, t, 1);
			return false;
		}
	}
	return true;
}

/* One message; the last one from @me to @t has arrived. */
static void send(int kind, int me, int t)
{
	sent_to[me][t].n++;
	kind_sent[me][kind]++;
	switch (kind) {
	case WAIT:
		smp_call_function_single(t, count, ID(me, t), 1);
		break;
	case IRQ_WORK:
		queue_on(&work[me][t], t);
		break;
	case PONG:
		pings[me][t].n++;
		INIT_CSD(&csd[me][t], ping, ID(me, t));
		smp_call_function_single_async(t, &csd[me][t]);
		break;
	default:
		INIT_CSD(&csd[me][t], count, ID(me, t));
		smp_call_function_single_async(t, &csd[me][t]);
	}
}

/* One message to all others */
static void broadcast(int kind, int me)
{
	static struct cpumask masks[MAX];
	int t;

	cpumask_copy(&masks[me], &cpus);
	cpumask_clear_cpu(me, &masks[me]);
	for_each_cpu(t, &masks[me])
		sent_to[me][t].n++;
	preempt_disable();
	smp_call_function_many(&masks[me], count, ID(me, 0), kind == MANY_WAIT);
	preempt_enable();
	kind_sent[me][kind] += nr - 1;
}

/* Many to one CPU, each as soon as the last has arrived */
static bool burst(int me, int t)
{
	int i;

	for (i = 0; i < BURST; i++) {
		send(ASYNC, me, t);
		if (!arrived_soon(ASYNC, me, t))
			return false;
	}
	return true;
}

static bool one_round(int me, int round)
{
	int kind = round % ROUND_KINDS, how = round / ROUND_KINDS, i, t;
	unsigned long flags, before;
	u64 start;

	if (!meet(round))
		return false;

	if (kind == MANY || kind == MANY_WAIT)
		broadcast(kind, me);
	for (i = 1, t = me; i < nr; i++) {
		t = cpumask_next_wrap(t, &cpus, -1, false);
		switch (kind) {
		case ASYNC:
			if (!burst(me, t))
				return false;
			break;
		case WAIT:
		case IRQ_WORK:
		case PONG:
			send(kind, me, t);
			break;
		case WAKE:
			atomic_long_inc(&ups[t]);
			up(&sem[t]);
			kind_sent[me][kind]++;
		}
	}
	if (kind == SELF) {
		local_irq_save(flags);
		before = interrupts(me);
		arch_smp_send_reschedule(me);
		udelay(2);
		local_irq_restore(flags);
		start = ktime_get_ns();
		while (interrupts(me) == before)
			if (over(start)) {
				late(kind, me, me, 1);
				return false;
			}
		kind_sent[me][kind]++;
	}

	/* All of it has arrived? */
	start = ktime_get_ns();
	for_each_cpu(t, &cpus) {
		long missing;

		for (;;) {
			missing = sent_to[me][t].n - READ_ONCE(got_from[t][me].n);
			if (!missing)
				missing = pings[me][t].n - READ_ONCE(pong_from[me][t].n);
			if (kind == WAKE && !missing)
				missing = atomic_long_read(&ups[t]) -
					atomic_long_read(&woken[t]);
			if (!missing)
				break;
			if (over(start)) {
				if (!READ_ONCE(stop))
					late(kind, me, t, missing);
				return false;
			}
			pass(how);
		}
	}
	return true;
}

static atomic_t nmi_seen, held;
static int nmi_reply_to;
static call_single_data_t hold_csd;

static void in_nmi_ipi(struct pt_regs *regs)
{
	atomic_inc(&nmi_seen);
}

static void in_real_nmi(struct pt_regs *regs)
{
	if (!in_nmi())
		return;
	atomic_inc(&nmi_seen);
	arch_smp_send_reschedule(nmi_reply_to);
}

/* Here an NMI can be recovered from: nothing else can come in and have live SRRs. */
static void hold(void *unused)
{
	u64 start = ktime_get_ns();

	hard_irq_disable();
	atomic_set(&held, 1);
	while (atomic_read(&held) && !over(start))
		let_others_run();
}

static bool arrives(atomic_t *counter, int value)
{
	u64 start = ktime_get_ns();

	while (atomic_read(counter) != value)
		if (over(start))
			return false;
		else
			pass(1);
	return true;
}

/* @me is alone in this. A time limit of the kernel's own says if an NMI was not taken. */
static bool send_nmis(int me)
{
	unsigned long before;
	u64 start;
	int t;

	for_each_cpu(t, &cpus) {
		if (t == me)
			continue;
		if (send_safe_nmi) {
			atomic_set(&nmi_seen, 0);
			kind_sent[me][SAFE_NMI]++;
			if (!send_safe_nmi(t, in_nmi_ipi, LATE_MS * 1000) ||
			    !arrives(&nmi_seen, 1)) {
				late(SAFE_NMI, me, t, 1);
				return false;
			}
		}
		/* With the hash MMU a module may be out of an NMI's reach. */
		if (!send_nmi || !radix_enabled())
			continue;
		atomic_set(&nmi_seen, 0);
		nmi_reply_to = me;
		INIT_CSD(&hold_csd, hold, NULL);
		smp_call_function_single_async(t, &hold_csd);
		if (!arrives(&held, 1)) {
			late(ASYNC, me, t, 1);
			return false;
		}
		local_irq_disable();
		before = interrupts(me);
		if (!send_nmi(t, in_real_nmi, NMI_MS * 1000)) {
			/* A machine without: a message was sent, and is ignored now. */
			pr_info("ipitest: no NMIs here\n");
			send_nmi = NULL;
			local_irq_enable();
			atomic_set(&held, 0);
			continue;
		}
		kind_sent[me][FROM_NMI]++;
		local_irq_enable();
		start = ktime_get_ns();
		while (atomic_read(&nmi_seen) != 1 ||
		       interrupts(me) == before)
			if (over(start)) {
				late(FROM_NMI, me, t, 1);
				return false;
			}
		atomic_set(&held, 0);
		/* The call is over when its CPU takes another one. */
		smp_call_function_single(t, count, ID(me, t), 1);
		sent_to[me][t].n++;
	}
	return true;
}

static int send_rounds(void *unused)
{
	int me = smp_processor_id(), i, t;
	bool ok;

	for (i = 0; i < rounds && one_round(me, i); i++)
		;
	ok = i == rounds;
	for_each_cpu(t, &cpus)
		ok = ok && meet(i++) && (t != me || send_nmis(me));
	/* Stay until the last one has sent. */
	if (!ok || !meet(i))
		atomic_inc(&stuck);
	atomic_dec(&running);
	while (!kthread_should_stop())
		usleep_range(1000, 2000);
	return 0;
}

/* Passes over all CPUs: mostly calls that nobody waits for, now and then a sleep. */
static int send_flood(void *unused)
{
	static const int kinds[] = { ASYNC, IRQ_WORK, ASYNC, MANY, ASYNC, WAIT, ASYNC, PONG };
	int me = smp_processor_id(), i, t;
	bool ok = meet(0);

	for (i = 0; i < flood && ok; i++) {
		int kind = kinds[i % ARRAY_SIZE(kinds)];

		if (kind == MANY)
			broadcast(kind, me);
		for (t = cpumask_next_wrap(me, &cpus, -1, false); t != me && ok;
		     t = cpumask_next_wrap(t, &cpus, -1, false)) {
			ok = arrived_soon(kind, me, t) && !READ_ONCE(stop);
			if (ok && kind != MANY)
				send(kind, me, t);
		}
		if (i % 4096 == 0)
			usleep_range(50, 100);
		cond_resched();
	}
	for_each_cpu(t, &cpus)
		ok = ok && arrived_soon(ASYNC, me, t);
	if (!ok)
		atomic_inc(&stuck);
	atomic_dec(&running);
	while (!kthread_should_stop())
		usleep_range(1000, 2000);
	return 0;
}

/* Single calls and broadcasts to whatever is online; the mask changes all the time. */
static int send_storm(void *unused)
{
	int me = smp_processor_id(), t, i = 0;

	while (!kthread_should_stop()) {
		t = get_random_u32_below(nr_cpu_ids);
		i++;
		preempt_disable();
		if (i % 16 == 0) {
			for_each_online_cpu(t)
				if (t != me)
					sent_to[me][t].n++;
			smp_call_function_many(cpu_online_mask, count, ID(me, 0), i % 32 == 0);
		} else if (t != me && cpu_online(t)) {
			sent_to[me][t].n++;
			if (smp_call_function_single(t, count, ID(me, t), i & 1))
				sent_to[me][t].n--;
		}
		preempt_enable();
		if (i % 64 == 0)
			usleep_range(100, 200);
		else
			cond_resched();
	}
	return 0;
}

static void end(void)
{
	int cpu, t;

	for_each_cpu(cpu, &cpus) {
		if (!IS_ERR_OR_NULL(sender[cpu]))
			kthread_stop(sender[cpu]);
		if (!IS_ERR_OR_NULL(sleeper[cpu])) {
			up(&sem[cpu]);
			kthread_stop(sleeper[cpu]);
		}
	}
	if (old_cause_ipi)
		WRITE_ONCE((*ops)->cause_ipi, old_cause_ipi);
	if (storm)
		msleep(1000);
	for (cpu = 0; cpu < MAX; cpu++) {
		for (t = 0; t < MAX; t++) {
			if (sent_to[cpu][t].n != got_from[t][cpu].n) {
				pr_err("ipitest: LOST: CPU %d to CPU %d: sent %lu, arrived %lu\n",
				       cpu, t, sent_to[cpu][t].n, got_from[t][cpu].n);
				if (storm || !lost)
					lost += abs((long)(sent_to[cpu][t].n - got_from[t][cpu].n));
			}
			sent += sent_to[cpu][t].n + pong_from[cpu][t].n;
		}
		sent += kind_sent[cpu][WAKE] + kind_sent[cpu][SELF] +
			kind_sent[cpu][SAFE_NMI] + kind_sent[cpu][FROM_NMI];
	}
	for (t = 0; t < KINDS && !storm; t++) {
		unsigned long n = 0;

		for (cpu = 0; cpu < MAX; cpu++)
			n += kind_sent[cpu][t];
		pr_info("ipitest: %lu times: %s\n", n, kind_name[t]);
	}
	pr_info("ipitest: %lu lost of %lu\n", lost, sent);
}

static int __init ipitest_init(void)
{
	int (*loop)(void *) = storm ? send_storm : flood ? send_flood : send_rounds;
	int cpu, t, err = 0;

	if (nr_cpu_ids > MAX || num_online_cpus() < 2)
		return -ENODEV;
	err = find_functions();
	if (err)
		return err;
	cpumask_copy(&cpus, cpu_online_mask);
	if (storm)
		for_each_cpu(cpu, cpu_online_mask)
			if (cpu >= storm)
				cpumask_clear_cpu(cpu, &cpus);
	nr = cpumask_weight(&cpus);
	for (cpu = 0; cpu < MAX; cpu++) {
		sema_init(&sem[cpu], 0);
		for (t = 0; t < MAX; t++) {
			INIT_CSD(&csd[cpu][t], count, ID(cpu, t));
			INIT_CSD(&csd_back[cpu][t], pong, ID(cpu, t));
			work[cpu][t] = IRQ_WORK_INIT_HARD(count_work);
		}
	}
	atomic_set(&running, nr);
	for_each_cpu(cpu, &cpus) {
		sleeper[cpu] = storm ? NULL :
			kthread_create_on_cpu(sleep_loop, NULL, cpu, "ipi-sleep/%u");
		sender[cpu] = kthread_create_on_cpu(loop, NULL, cpu, "ipi-send/%u");
		if (IS_ERR(sleeper[cpu]) || IS_ERR(sender[cpu])) {
			err = -ENOMEM;
			break;
		}
	}
	for_each_cpu(cpu, &cpus) {
		if (!err && sleeper[cpu])
			wake_up_process(sleeper[cpu]);
		if (!err)
			wake_up_process(sender[cpu]);
	}
	if (storm && !err)
		return 0;

	/* A CPU that hangs in a call that waits has no time limit; this has. */
	for (t = 0; !err && atomic_read(&running) && t < 2 * LATE_MS / 10; ) {
		msleep(10);
		t = READ_ONCE(stop) ? t + 1 : 0;
	}
	if (atomic_read(&running)) {
		lost++;
		pr_err("ipitest: LOST: %d CPUs wait for ever\n", atomic_read(&running));
		return 0;		/* they must not lose their code */
	}
	end();
	return err ?: lost || atomic_read(&stuck) ? -EIO : 0;
}

static void __exit ipitest_exit(void)
{
	if (storm)
		end();
}

module_init(ipitest_init);
module_exit(ipitest_exit);
MODULE_DESCRIPTION("Does each IPI arrive?");
MODULE_LICENSE("GPL");
