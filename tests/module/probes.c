// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kprobe on each STEPth instruction from START to END, until the module is unloaded.
 * For guest/kprobes.c, which knows what to probe: kprobes itself refuses what it must not.
 *
 * Parameters "probes", "refused" and "hits" say what came of it.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/slab.h>

static ulong start, end;
static uint step = 1;
module_param(start, ulong, 0);
module_param(end, ulong, 0);
module_param(step, uint, 0);
static ulong probes, refused, hits;
module_param(probes, ulong, 0444);
module_param(refused, ulong, 0444);
module_param(hits, ulong, 0444);

static struct kprobe *probe;
static struct kprobe **registered;

/* Two CPUs may count as one. */
static int hit(struct kprobe *p, struct pt_regs *regs)
{
	WRITE_ONCE(hits, READ_ONCE(hits) + 1);
	return 0;
}
NOKPROBE_SYMBOL(hit);

static void remove_all(void)
{
	if (probes)
		unregister_kprobes(registered, probes);
	kvfree(registered);
	kvfree(probe);
}

static int __init probes_init(void)
{
	ulong i, n;

	if (end <= start || !step)
		return -EINVAL;
	n = (end - start) / (4 * step) + 1;
	probe = kvcalloc(n, sizeof(*probe), GFP_KERNEL);
	registered = kvcalloc(n, sizeof(*registered), GFP_KERNEL);
	if (!probe || !registered) {
		remove_all();
		return -ENOMEM;
	}
	for (i = 0; i < n && start + 4 * step * i < end; i++) {
		probe[i].addr = (void *)(start + 4 * step * i);
		probe[i].pre_handler = hit;
		if (register_kprobe(&probe[i]))
			refused++;
		else
			registered[probes++] = &probe[i];
	}
	return 0;
}

module_init(probes_init);
module_exit(remove_all);
MODULE_DESCRIPTION("A kprobe on each instruction of a range");
MODULE_LICENSE("GPL");
