// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power ISA instruction word -> class. Only what matters for cost is told apart;
 * the numbers are primary and extended opcodes of the Power ISA 3.1B, appendices
 * on opcode maps, and for 32-bit of the Book3E and PowerPC 32-bit manuals.
 */
#include <stdio.h>

#include "classes.h"

static const struct {
	int number;
	const char *name;
} sprs[] = {
	{ 1, "XER" }, { 8, "LR" }, { 9, "CTR" }, { 13, "UAMR" }, { 18, "DSISR" },
	{ 19, "DAR" }, { 22, "DEC" }, { 26, "SRR0" }, { 27, "SRR1" }, { 28, "CFAR" },
	{ 29, "AMR" }, { 48, "PID" }, { 61, "IAMR" }, { 128, "TFHAR" },
	{ 129, "TFIAR" }, { 130, "TEXASR" }, { 136, "CTRL" }, { 152, "CTRL" },
	{ 153, "FSCR" }, { 157, "UAMOR" }, { 176, "DPDES" }, { 190, "HFSCR" },
	{ 256, "VRSAVE" }, { 259, "SPRG3" }, { 268, "TB" }, { 269, "TBU" },
	{ 272, "SPRG0" }, { 273, "SPRG1" }, { 274, "SPRG2" }, { 275, "SPRG3" },
	{ 304, "HSPRG0" }, { 305, "HSPRG1" }, { 308, "SPURR" }, { 309, "PURR" },
	{ 314, "HSRR0" }, { 315, "HSRR1" }, { 318, "LPCR" }, { 319, "LPIDR" },
	{ 337, "HMEER" }, { 769, "MMCR2" }, { 779, "MMCR0" }, { 780, "SIAR" },
	{ 795, "MMCR0" }, { 798, "MMCR1" }, { 815, "TAR" }, { 823, "PSSCR" },
	{ 855, "PSSCR" }, { 895, "TSCR" }, { 896, "PPR" }, { 898, "PPR32" },
	{ 1023, "PIR" },
};

static const char *spr_class(const char *verb, uint32_t word, char *buf)
{
	/* The two halves of the SPR number are swapped in the instruction. */
	int n = (word >> 16 & 0x1f) | (word >> 6 & 0x3e0);

	for (unsigned int i = 0; i < sizeof(sprs) / sizeof(sprs[0]); i++) {
		if (sprs[i].number == n) {
			snprintf(buf, 32, "%s %s", verb, sprs[i].name);
			return buf;
		}
	}
	snprintf(buf, 32, "%s SPR%d", verb, n);
	return buf;
}

static const char *class_19(int xo)
{
	switch (xo) {
	case 16: case 528: case 560:	return "branch";
	case 18:	return "rfid";
	case 38:	return "rfmci";
	case 39:	return "rfdi";
	case 50:	return "rfi";
	case 51:	return "rfci";
	case 82:	return "rfscv";
	case 150:	return "isync";
	case 274:	return "hrfid";
	case 370:	return "stop";
	case 402: case 434: case 466: case 498:	return "nap";
	}
	return "plain";		/* condition register logic */
}

static const char *class_31(uint32_t word, int xo, char *buf)
{
	switch (xo) {
	case 20: case 52: case 84: case 116: case 276:
		return "larx";
	case 150: case 182: case 214: case 694: case 726:
		return "stcx";
	case 7: case 12: case 21: case 23: case 39: case 53: case 55: case 71:
	case 76: case 87: case 103: case 119: case 268: case 269: case 279:
	case 301: case 311: case 332: case 341: case 343: case 359: case 364:
	case 373: case 375: case 524: case 532: case 533: case 534: case 535:
	case 567: case 588: case 597: case 599: case 631: case 780: case 790:
	case 812: case 844: case 855: case 876: case 887:
		return "load";
	case 135: case 140: case 149: case 151: case 167: case 181: case 183:
	case 199: case 215: case 231: case 247: case 396: case 397: case 407:
	case 429: case 439: case 487: case 652: case 660: case 661: case 662:
	case 663: case 695: case 716: case 725: case 727: case 759: case 908:
	case 918: case 940: case 972: case 983: case 1004:
		return "store";
	case 235: case 233: case 11: case 9: case 73: case 75:
		return "multiply";
	case 393: case 395: case 425: case 427: case 457: case 459: case 489:
	case 491: case 265: case 267: case 777: case 779:
		return "divide";
	case 19:
		/* mfocrf reads one field, mfcr all of them */
		return word & 1 << 20 ? "mfocrf" : "mfcr";
	case 144:
		return word & 1 << 20 ? "mtocrf" : "mtcrf";
	case 83:	return "mfmsr";
	case 146:	return "mtmsr";
	case 178:	return "mtmsrd";
	case 131: case 163:	return "wrtee";
	case 339: case 371:	return spr_class("mfspr", word, buf);
	case 467:	return spr_class("mtspr", word, buf);
	case 595: case 659:	return "mfsr";
	case 210: case 242:	return "mtsr";
	case 598:
		switch (word >> 21 & 7) {
		case 0:	return "hwsync";
		case 1:	return "lwsync";
		case 2:	return "ptesync";
		}
		return "sync";
	case 854:	return "eieio";
	case 30:	return "wait";
	case 306:	return "tlbie";
	case 274:	return "tlbiel";
	case 566:	return "tlbsync";
	case 18:	return "tlbivax";
	case 370:	return "tlbia";
	case 978:	return "tlbwe";
	case 338: case 402: case 434: case 466: case 498: case 850: case 979:
		return "slb";
	case 142: case 174: case 206: case 238:
		return "msgsnd";
	case 886:	return "msgsync";
	case 54: case 86: case 470: case 982:
		return "cache";
	case 1014:	return "dcbz";
	case 899: case 931:
		return "copy";
	case 654: case 686: case 718: case 750: case 910: case 942: case 1006:
		return "transaction";
	case 755:	return "darn";
	}
	return "plain";
}

const char *class_of(uint32_t word, char *buf)
{
	int op = word >> 26;

	switch (op) {
	case 16: case 18:
		return "branch";
	case 17:
		if (word & 2)
			return (word >> 5 & 0x7f) == 1 ? "hypercall" : "sc";
		return "scv";
	case 19:
		return class_19(word >> 1 & 0x3ff);
	case 31:
		return class_31(word, word >> 1 & 0x3ff, buf);
	case 7:
		return "multiply";
	case 32: case 33: case 34: case 35: case 40: case 41: case 42: case 43:
	case 46: case 48: case 49: case 50: case 51: case 56: case 57: case 58:
		return "load";
	case 36: case 37: case 38: case 39: case 44: case 45: case 47: case 52:
	case 53: case 54: case 55: case 60 + 2:
		return "store";
	case 6:
		return word & 1 ? "store" : "load";
	case 61:
		return (word & 7) == 1 ? "load" : "store";
	case 1:
		return "prefixed";
	case 4: case 59: case 60: case 63:
		return "vector and FP";
	}
	return "plain";
}
