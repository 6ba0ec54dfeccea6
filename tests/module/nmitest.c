// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes every system reset (QEMU's monitor command "nmi") for handled, so that the
 * kernel goes on, and counts what it hit. 64-bit, radix: with the hash MMU a module may
 * be out of reach of an NMI.
 *
 * One that hits MSR[RI] = 0, where SRR0 and SRR1 of another interrupt are live, cannot
 * be recovered from, nor can one that hits the handler of another one. The kernel dies
 * of it as it would without this module; a line before that says so, and where it was.
 */
#include <linux/atomic.h>
#include <linux/module.h>

#include <asm/hw_irq.h>
#include <asm/machdep.h>
#include <asm/paca.h>
#include <asm/ptrace.h>

enum { USER, ENABLED, MASKED, REAL, WHERE };

static const char * const where_name[WHERE] = {
	"user", "kernel, irqs on", "kernel, irqs masked", "real mode",
};

static atomic_long_t hits[WHERE];
static int (*platform_handler)(struct pt_regs *regs);

static long total(void)
{
	long n = 0;
	int i;

	for (i = 0; i < WHERE; i++)
		n += atomic_long_read(&hits[i]);
	return n;
}

static int count_reset(struct pt_regs *regs)
{
	int where;

	/* It also repairs r3, where firmware has saved that. True: an IPI of the kernel. */
	if (platform_handler && platform_handler(regs))
		return 1;

	if (!(regs->msr & MSR_RI) || local_paca->in_nmi > 1)
		pr_emerg("nmitest: fatal: %s at %lx, MSR %lx, after %ld that were not\n",
			 local_paca->in_nmi > 1 ? "nested" : "MSR[RI] = 0",
			 regs->nip, regs->msr, total());
	if (user_mode(regs))
		where = USER;
	else if (!(regs->msr & MSR_IR))
		where = REAL;
	else if (regs->softe == IRQS_ENABLED)
		where = ENABLED;
	else
		where = MASKED;
	atomic_long_inc(&hits[where]);
	/* What sends them waits for this: the next one must not hit this handler. */
	pr_info("nmitest: system reset at %lx\n", regs->nip);
	return 1;
}

static int get_hits(char *buffer, const struct kernel_param *kp)
{
	int i, len = 0;

	for (i = 0; i < WHERE; i++)
		len += sysfs_emit_at(buffer, len, "%s%s %ld", i ? "; " : "", where_name[i],
				     atomic_long_read(&hits[i]));
	return len + sysfs_emit_at(buffer, len, "\n");
}

static const struct kernel_param_ops hits_ops = { .get = get_hits };
module_param_cb(hits, &hits_ops, NULL, 0444);

static int __init nmitest_init(void)
{
	platform_handler = ppc_md.system_reset_exception;
	WRITE_ONCE(ppc_md.system_reset_exception, count_reset);
	return 0;
}

static void __exit nmitest_exit(void)
{
	WRITE_ONCE(ppc_md.system_reset_exception, platform_handler);
}

module_init(nmitest_init);
module_exit(nmitest_exit);
MODULE_DESCRIPTION("Count system resets");
MODULE_LICENSE("GPL");
