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
TOPIC ?=
V ?=
BUILD ?= build
export BUILD KERNEL V

vmlinux = $(BUILD)/$(TREE)/out-$(CONFIG)/vmlinux

help: ## this list
	@echo "make TARGET [VARIABLE=VALUE ...]"
	@echo
	@sed -n 's/^\([a-z]*\):.*## /  \1\t/p' Makefile | expand -t 12
	@echo
	@echo "  MACHINE=    one of: $$(tools/boot -m list | tr '\n' ' ')" | fold -s -w 74 | sed '2,$$s/^/              /'
	@echo "  CPUS=       how many the guest has (1)"
	@echo "  APPEND=     kernel parameters"
	@echo "  TREE=       linux (the series) or linux-base"
	@echo "  CONFIG=     names of configs/, joined by + (ppc64le)"
	@echo "  KERNEL=     your own 6.12.y git tree as the base, instead of Debian's source"
	@echo "  V=1         shows everything; BUILD=DIR builds there instead of in build/"

boot: kernel ## build a kernel with the series, boot it, print what system calls cost
	@tools/guest $(IMAGE)
	@tools/try $(TREE) $(CONFIG) "$(CPUS)" "$(APPEND)" $(IMAGE) $(MACHINE)

test: ## everything that must hold; the last line says how many passed
	@tests/run

tree: ## the base kernel as a git tree with the series applied: build/linux
	@tools/tree

export: ## write the commits of build/linux to patches/ (TOPIC=xive: new ones go there)
	@tools/export $(if $(TOPIC),-t $(TOPIC))

kernel: tree ## build TREE with CONFIG
	@tools/kernel $(TREE) $(CONFIG)

shell: kernel ## a shell in a guest
	@tools/guest $(IMAGE)-shell
	@tools/boot -s -m $(or $(MACHINE),pseries9) -c "$(CPUS)" -a "$(APPEND)" -i $(BUILD)/guest/$(IMAGE)-shell.cpio.gz $(vmlinux)

check: ## lint the scripts and the patches
	@tools/check

clean: ## remove build/, unless that loses commits (FORCE=1: in any case)
	@tools/clean

.PHONY: help boot test tree export kernel shell check clean
