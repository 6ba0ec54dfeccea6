// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCG plugin: how often was each kernel instruction executed between two markers?
 *
 *	qemu-system-ppc64 ... -plugin build/bench/count.so,out=FILE
 *	out=FILE	where the windows are written (text, below)
 *	bits=32		the guest kernel is a 32-bit one (default 64)
 *	endian=be	the guest kernel is big-endian (default little)
 *	percpu=on	one set of counts for each vCPU (slower: a call an instruction)
 *
 * Every instruction address of the kernel has a counter that the translated code
 * itself increments; all of user space shares one. The start marker zeroes the
 * counters, the stop marker writes those that are not zero. There is no
 * sampling and nothing to subtract: what a translation block did not execute,
 * because an exception cut it short, is not counted. Names and instruction
 * classes are report.c's business. Output, a window at a time:
 *
 *	window ROW OPS
 *	CPU user COUNT
 *	CPU ADDRESS COUNT INSTRUCTION
 *	end
 *
 * A kernel address is one in the upper part of the address space, or a low one
 * (below BENCH_USER_START): that is a vector or entry code in real mode.
 */
#include <stdlib.h>

#include "window.h"

#define PAGE_INSNS	16384			/* 64 KiB of code */
#define HASH		4096

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

struct page {
	struct page *next;
	uint64_t base;
	uint8_t insn[PAGE_INSNS][4];		/* as in guest memory */
	uint64_t count[];			/* [vcpu][PAGE_INSNS] */
};

static struct page *hash[HASH];
static uint64_t *user;				/* [vcpu] */
static uint64_t kernel_start = 0xc000000000000000ull;
static int vcpus = 1;
static bool percpu;

static struct page *find_page(uint64_t addr)
{
	uint64_t base = addr & ~(PAGE_INSNS * 4ull - 1);
	struct page **head = &hash[(base >> 16) % HASH];
	size_t size = sizeof(struct page) +
		      sizeof(uint64_t) * PAGE_INSNS * vcpus;
	struct page *page;

	for (page = *head; page; page = page->next)
		if (page->base == base)
			return page;
	page = calloc(1, size);
	if (!page) {
		fprintf(stderr, "count.so: out of memory\n");
		exit(1);
	}
	page->base = base;
	page->next = *head;
	*head = page;
	return page;
}

static void window_clear(void)
{
	for (int i = 0; i < HASH; i++)
		for (struct page *p = hash[i]; p; p = p->next)
			memset(p->count, 0,
			       sizeof(uint64_t) * PAGE_INSNS * vcpus);
	memset(user, 0, sizeof(*user) * vcpus);
}

static void window_write(void)
{
	for (int cpu = 0; cpu < vcpus; cpu++) {
		fprintf(out, "%d user %llu\n", cpu,
			(unsigned long long)user[cpu]);
		for (int i = 0; i < HASH; i++) {
			for (struct page *p = hash[i]; p; p = p->next) {
				uint64_t *n = p->count + (size_t)cpu * PAGE_INSNS;

				for (int k = 0; k < PAGE_INSNS; k++)
					if (n[k])
						fprintf(out, "%d %llx %llu %08x\n", cpu,
							(unsigned long long)p->base + k * 4,
							(unsigned long long)n[k],
							insn_word(p->insn[k]));
			}
		}
	}
}

static void count_kernel(unsigned int vcpu, void *udata)
{
	((uint64_t *)udata)[(size_t)vcpu * PAGE_INSNS]++;
}

static void count_user(unsigned int vcpu, void *udata)
{
	user[vcpu]++;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t addr = qemu_plugin_insn_vaddr(insn);
		const uint8_t *bytes = qemu_plugin_insn_data(insn);
		bool kernel = addr >= kernel_start || addr < BENCH_USER_START;
		uint64_t *counter = user;

		if (kernel) {
			struct page *page = find_page(addr);
			unsigned int k = addr / 4 % PAGE_INSNS;

			memcpy(page->insn[k], bytes, 4);
			counter = &page->count[k];
		}
		watch_marker(insn, insn_word(bytes));
		if (percpu)
			qemu_plugin_register_vcpu_insn_exec_cb(insn,
				kernel ? count_kernel : count_user,
				QEMU_PLUGIN_CB_NO_REGS, counter);
		else
			qemu_plugin_register_vcpu_insn_exec_inline(insn,
				QEMU_PLUGIN_INLINE_ADD_U64, counter, 1);
	}
	pthread_mutex_unlock(&lock);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
			int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (window_argument(argv[i])) {
			continue;
		} else if (!strcmp(argv[i], "bits=32")) {
			kernel_start = 0xc0000000ull;
		} else if (!strcmp(argv[i], "percpu=on")) {
			percpu = true;
		} else {
			fprintf(stderr, "count.so: unknown argument %s\n", argv[i]);
			return -1;
		}
	}
	if (!out) {
		fprintf(stderr, "count.so: out=FILE is needed\n");
		return -1;
	}
	if (percpu)
		vcpus = info->system.max_vcpus;
	user = calloc(vcpus, sizeof(*user));
	if (!user)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
