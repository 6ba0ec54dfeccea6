# SPDX-License-Identifier: GPL-2.0-only
# The front door of the lab. Each target calls a script of tools/ or tests/, and
# each of these explains itself with --help.

MACHINE ?=
CPUS ?= 1
APPEND ?=
TREE ?= linux
CONFIG ?= ppc64le
IMAGE ?= ppc64le
KERNEL ?=
MINUTES ?= 30
TOPIC ?=
ROWS ?=
V ?=
BASE ?= v6.12
BUILD ?= build$(if $(filter-out v6.12,$(BASE)),/$(BASE))
export BASE BUILD KERNEL V

# A typo shows now, not after the build.
ifeq ($(wildcard patches/$(BASE)/base),)
$(error no BASE '$(BASE)'; there are: $(notdir $(wildcard patches/v*)))
endif
machines := $(shell tools/boot -m list)
ifneq ($(filter-out $(machines),$(MACHINE)),)
$(error no machine '$(filter-out $(machines),$(MACHINE))'; there are: $(machines))
endif

vmlinux = $(BUILD)/$(TREE)/out-$(CONFIG)/vmlinux

help: ## this list
	@echo "make TARGET [VARIABLE=VALUE ...]"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile | expand -t 14
	@echo
	@echo "  MACHINE=    one of: $(machines)" | fold -s -w 74 | sed '2,$$s/^/              /'
	@echo "  CPUS=       how many the guest has (1)"
	@echo "  APPEND=     kernel parameters"
	@echo "  TREE=       linux (the series) or linux-base"
	@echo "  CONFIG=     names of configs/, joined by + (ppc64le)"
	@echo "  BASE=       v6.12, or another of patches/, which is built in build/BASE"
	@echo "  KERNEL=     your own git tree of that version, instead of Debian's source"
	@echo "  V=1         shows everything; BUILD=DIR builds there instead of in build/"

boot: deps kernel ## build a kernel with the series, boot it, print what system calls cost
	@tools/guest $(IMAGE)
	@tools/try $(TREE) $(CONFIG) "$(CPUS)" "$(APPEND)" $(IMAGE) $(MACHINE)

test: ## everything that must hold; the last line says how many passed
	@tests/run

test-all: ## the same with every kernel and machine of tests/matrix, for hours (ROWS=ipi: some)
	@tests/run -a $(if $(ROWS),-r "$(ROWS)")

bisect: ## build the series patch by patch on four families, boot each; resumes
	@tools/bisect

tree: ## the base kernel as a git tree with the series applied: build/linux
	@tools/tree

export: ## write the commits of build/linux to patches/ (TOPIC=xive: new ones go there)
	@tools/export $(if $(TOPIC),-t $(TOPIC))

kernel: tree ## build TREE with CONFIG
	@tools/kernel $(TREE) $(CONFIG)

shell: deps kernel ## a shell in a guest
	@tools/guest $(IMAGE)-shell
	@tools/boot -s -m $(or $(MACHINE),pseries9) -c "$(CPUS)" -a "$(APPEND)" -i $(BUILD)/guest/$(IMAGE)-shell.cpio.gz $(vmlinux)

# All packages in one go, before anything takes long.
deps:
	@tools/deps tree kernel guest boot

soak: tree ## long tests: random calls, NMIs, hotplug, kexec, crash, stress-ng (MINUTES=30)
	@tests/soak $(MINUTES)

ltp: tree ## runtest lists of an installed LTP on base and series (LTPROOT=DIR)
	@tools/ltp

check: ## lint the scripts and the patches; kernel-doc
	@tools/check
	@tools/warnings -d

warnings: tree ## W=1, sparse and clang on files the series touches: nothing new against base
	@tools/warnings

clean: ## remove build/, unless that loses commits (FORCE=1: in any case)
	@tools/clean

.PHONY: help boot test test-all bisect soak ltp tree export kernel shell deps check warnings clean
.NOTPARALLEL:

# KERNEL_A= and KERNEL_B= are any two vmlinux files, instead of base and series;
# ROW= is a row of the table, by number or name.
bench_kernels = $(or $(KERNEL_A),$(BUILD)/linux-base/out-$(CONFIG)/vmlinux) \
	$(if $(KERNEL_A),$(KERNEL_B),$(BUILD)/linux/out-$(CONFIG)/vmlinux)
bench_args = $(if $(MACHINE),-m $(MACHINE)) $(if $(APPEND),-a "$(APPEND)")

# Four CPUs of plain 6.12 stall on pseries8 with -icount, in multi_cpu_stop(): no IPIs there.
bench: $(if $(KERNEL_A),,bench-build) ## what operations cost in base and series, in instructions
	@tools/bench -2 -p $(if $(KERNEL_A)$(filter pseries8,$(MACHINE)),,-i) $(bench_args) $(bench_kernels)

bench-diff: ## a ROW of the last bench, by symbol and kind of instruction
	@tools/bench -l -r $(or $(ROW),1) $(bench_args)

bench-all: tree ## base and series in each variant of bench/all (VARIANTS="p9 be"), for an hour
	@tools/bench-all $(VARIANTS)

peer = $(or $(PEER),$(BUILD)/v7.3/linux-base/out-ppc64le/vmlinux)
bench-peer: bench-build ## bench beside a mainline with its own generic entry (PEER=/path/to/vmlinux)
	@$(if $(PEER),,BASE=v7.3 BUILD=$(BUILD)/v7.3 tools/tree)
	@$(if $(PEER),,BASE=v7.3 BUILD=$(BUILD)/v7.3 tools/kernel linux-base ppc64le)
	@tools/bench -p -f 0.5 -o $(BUILD)/bench/peer $(bench_args) $(bench_kernels) $(peer)

# Of the last bench-peer, or where there was none, of the last bench.
plot = $(patsubst %/kernels,%,$(firstword $(wildcard $(BUILD)/bench/peer/kernels $(BUILD)/bench/pseries9/kernels)))
bench-plot: ## the last bench-peer, or bench, as a picture: Documentation/bench.svg
	@tools/bench -l -o $(or $(plot),$(BUILD)/bench/peer) > /dev/null
	@cp $(plot)/bench.svg Documentation/bench.svg

bench-build: tree
	@tools/kernel linux-base $(CONFIG)
	@tools/kernel linux $(CONFIG)

.PHONY: bench bench-diff bench-all bench-peer bench-plot bench-build
