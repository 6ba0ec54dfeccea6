/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One instruction, executed with every register holding a known value.
 */

#include <ppc-asm.h>
#include "basic_asm.h"
#include "entry.h"

	.machine	"any"

/* Where things are in the stack frame. All of them above any ABI's minimum. */
#define FRAME_OUT	112
#define FRAME_SCRATCH	120
#define FRAME_R2	128
#define FRAME_CR	136
#define FRAME_GPR	144		/* r13 to r31 */
#define FRAME_FPR	(FRAME_GPR + 19 * 8)
#define FRAME_VR	448		/* v20 to v31 */
#define FRAME_SIZE	(FRAME_VR + 12 * 16)

/* \op for the vector registers \from to \to, at \base; clobbers r6 */
.macro VECTORS op, from, to, base
	li	r6,0
	.set	i, \from
	.rept	\to - \from + 1
	\op	i,\base,r6
	addi	r6,r6,16
	.set	i, i + 1
	.endr
.endm

.macro LOAD_ALL
	mflr	r0
	PPC_STL	r0,STACK_FRAME_LR_POS(%r1)
	PPC_STLU %r1,-FRAME_SIZE(%r1)
	PPC_STL	r4,FRAME_OUT(%r1)
	PPC_STL	%r2,FRAME_R2(%r1)
	mfcr	r0
	PPC_STL	r0,FRAME_CR(%r1)
	OP_REGS	PPC_STL, REGS_LONG, 13, 31, %r1, FRAME_GPR, 13

	PPC_LL	r5,REGS_SETS(r3)
	PPC_STL	r5,REGS_SETS(r4)

	/* FPSCR first, through an FPR; then the FPRs */
	andi.	r0,r5,SET_FP|SET_VSX
	beq	1f
	OP_REGS	stfd, 8, 14, 31, %r1, FRAME_FPR, 14
	lfd	0,REGS_FPSCR(r3)
	mtfsf	0xff,0
	OP_REGS	lfd, 8, 0, 31, r3, REGS_FPR
1:	andi.	r0,r5,SET_VMX|SET_VSX
	beq	1f
	addi	r7,%r1,FRAME_VR
	VECTORS	stvx, 20, 31, r7
	addi	r7,r3,REGS_VSCR
	lvx	0,0,r7
	mtvscr	0
	lwz	r0,REGS_VRSAVE(r3)
	mtspr	256,r0
	addi	r7,r3,REGS_VR
	VECTORS	lvx, 0, 31, r7
1:	andi.	r0,r5,SET_VSX
	beq	1f
	addi	r7,r3,REGS_VSR
	VECTORS	lxvd2x, 0, 63, r7
1:
	PPC_LL	r0,REGS_CR(r3)
	mtcr	r0
	PPC_LL	r0,REGS_XER(r3)
	mtxer	r0
	PPC_LL	r0,REGS_CTR(r3)
	mtctr	r0
	PPC_LL	r0,REGS_LR(r3)
	mtlr	r0
	PPC_LL	r0,0(r3)
#if __BITS_PER_LONG == 64
	PPC_LL	%r2,2*REGS_LONG(r3)
#else
	PPC_LL	r13,13*REGS_LONG(r3)
#endif
	OP_REGS	PPC_LL, REGS_LONG, 4, 12, r3
	OP_REGS	PPC_LL, REGS_LONG, 14, 31, r3
	PPC_LL	r3,3*REGS_LONG(r3)
.endm

.macro STORE_ALL
	PPC_STL	r31,FRAME_SCRATCH(%r1)
	PPC_LL	r31,FRAME_OUT(%r1)
	OP_REGS	PPC_STL, REGS_LONG, 0, 30, r31
	PPC_LL	r3,FRAME_SCRATCH(%r1)
	PPC_STL	r3,31*REGS_LONG(r31)
	/* Nothing above has touched these four */
	mfcr	r0
	PPC_STL	r0,REGS_CR(r31)
	mfxer	r0
	PPC_STL	r0,REGS_XER(r31)
	mfctr	r0
	PPC_STL	r0,REGS_CTR(r31)
	mflr	r0
	PPC_STL	r0,REGS_LR(r31)

	PPC_LL	r5,REGS_SETS(r31)
	andi.	r0,r5,SET_VSX
	beq	1f
	addi	r7,r31,REGS_VSR
	VECTORS	stxvd2x, 0, 63, r7
1:	andi.	r0,r5,SET_FP|SET_VSX
	beq	1f
	OP_REGS	stfd, 8, 0, 31, r31, REGS_FPR
	mffs	0
	stfd	0,REGS_FPSCR(r31)
	OP_REGS	lfd, 8, 14, 31, %r1, FRAME_FPR, 14
1:	andi.	r0,r5,SET_VMX|SET_VSX
	beq	1f
	addi	r7,r31,REGS_VR
	VECTORS	stvx, 0, 31, r7
	mfvscr	0
	addi	r7,r31,REGS_VSCR
	stvx	0,0,r7
	mfspr	r0,256
	stw	r0,REGS_VRSAVE(r31)
	addi	r7,%r1,FRAME_VR
	VECTORS	lvx, 20, 31, r7
1:
	PPC_LL	%r2,FRAME_R2(%r1)
	PPC_LL	r0,FRAME_CR(%r1)
	mtcr	r0
	OP_REGS	PPC_LL, REGS_LONG, 13, 31, %r1, FRAME_GPR, 13
	addi	%r1,%r1,FRAME_SIZE
	PPC_LL	r0,STACK_FRAME_LR_POS(%r1)
	mtlr	r0
	blr
.endm

FUNC_START(entry_run_sc)
	LOAD_ALL
	.globl	entry_sc_insn
entry_sc_insn:
	sc
	STORE_ALL
FUNC_END(entry_run_sc)

FUNC_START(entry_run_scv)
	LOAD_ALL
	.globl	entry_scv_insn
entry_scv_insn:
	.long	0x44000001		/* scv 0 */
	STORE_ALL
FUNC_END(entry_run_scv)

FUNC_START(entry_run_spin)
	LOAD_ALL
	.globl	entry_spin_insn
entry_spin_insn:
	bdnz	entry_spin_insn
	STORE_ALL
FUNC_END(entry_run_spin)

FUNC_START(entry_run_store)
	LOAD_ALL
	.globl	entry_store_insn
entry_store_insn:
	stb	r5,0(r4)
	STORE_ALL
FUNC_END(entry_run_store)

	.section .note.GNU-stack,"",@progbits
