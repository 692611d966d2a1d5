package x86

// arithmetic are the operations that share eight forms each, in the order of their opcodes.
var arithmetic = []string{"add", "or", "adc", "sbb", "and", "sub", "xor", "cmp"}

// shifts are the operations of the shift groups; the seventh is another name of the fifth.
var shifts = []string{"rol", "ror", "rcl", "rcr", "shl", "shr", "shl", "sar"}

const integers = `
50+ push Zv *
58+ pop Zv *
63 movsxd Gv,Ed
68 push Iz *
69 imul Gv,Ev,Iz
6a push Is *
6b imul Gv,Ev,Is
84 test Eb,Gb
85 test Ev,Gv
86 xchg Eb,Gb
87 xchg Ev,Gv
88 mov Eb,Gb
89 mov Ev,Gv
8a mov Gb,Eb
8b mov Gv,Ev
8c mov Ev,Sw
8d lea Gv,M0
8e mov Sw,Ew
8f/0 pop Ev *
90 nop
f3 90 pause
90+ xchg Zv,Av
98 cwde
99 cdq
9b fwait
9c pushf *
9d popf *
9e sahf
9f lahf
a0 mov Ab,Ob
a1 mov Av,Ov
a2 mov Ob,Ab
a3 mov Ov,Av
a4 movsb
a5 movs
a6 cmpsb
a7 cmps
a8 test Ab,Ib
a9 test Av,Iz
aa stosb
ab stos
ac lodsb
ad lods
ae scasb
af scas
b0+ mov Zb,Ib
b8+ mov Zv,Iv
c2 ret Iw *
c3 ret *
c6/0 mov Eb,Ib
c7/0 mov Ev,Iz
c8 enter Iw,Ib *
c9 leave *
cc int3
cd int Ib
d7 xlat
e0 loopne Jb *
e1 loope Jb *
e2 loop Jb *
e3 jrcxz Jb *
e8 call Jz *
e9 jmp Jz *
eb jmp Jb *
f1 int1
f4 hlt
f5 cmc
f6/0 test Eb,Ib
f6/1 test Eb,Ib
f6/2 not Eb
f6/3 neg Eb
f6/4 mul Eb
f6/5 imul Eb
f6/6 div Eb
f6/7 idiv Eb
f7/0 test Ev,Iz
f7/1 test Ev,Iz
f7/2 not Ev
f7/3 neg Ev
f7/4 mul Ev
f7/5 imul Ev
f7/6 div Ev
f7/7 idiv Ev
f8 clc
f9 stc
fa cli
fb sti
fc cld
fd std
fe/0 inc Eb
fe/1 dec Eb
ff/0 inc Ev
ff/1 dec Ev
ff/2 call Ev *
ff/4 jmp Ev *
ff/6 push Ev *
0f 05 syscall
0f 0b ud2
0f 0d prefetch M0
0f 18 nop Ev
0f 19 nop Ev
0f 1a nop Ev
0f 1b nop Ev
0f 1c nop Ev
0f 1d nop Ev
0f 1e nop Ev
f3 0f 1e endbr64
0f 1f nop Ev
0f 31 rdtsc
0f a2 cpuid
0f a3 bt Ev,Gv
0f a4 shld Ev,Gv,Ib
0f a5 shld Ev,Gv,Cb
0f ab bts Ev,Gv
0f ac shrd Ev,Gv,Ib
0f ad shrd Ev,Gv,Cb
0f ae/0 fxsave M0
0f ae/1 fxrstor M0
0f ae/2 ldmxcsr Md
0f ae/3 stmxcsr Md
0f ae/4 xsave M0
0f ae/5 xrstor M0
0f ae/6 xsaveopt M0
0f ae/7 clflush M0
f3 0f ae/0 rdfsbase Ry
f3 0f ae/1 rdgsbase Ry
f3 0f ae/2 wrfsbase Ry
f3 0f ae/3 wrgsbase Ry
0f af imul Gv,Ev
0f b0 cmpxchg Eb,Gb
0f b1 cmpxchg Ev,Gv
0f b3 btr Ev,Gv
0f b6 movzx Gv,Eb
0f b7 movzx Gv,Ew
f3 0f b8 popcnt Gv,Ev
0f b9 ud1 Gv,Ev
0f ba/4 bt Ev,Ib
0f ba/5 bts Ev,Ib
0f ba/6 btr Ev,Ib
0f ba/7 btc Ev,Ib
0f bb btc Ev,Gv
0f bc bsf Gv,Ev
f3 0f bc tzcnt Gv,Ev
0f bd bsr Gv,Ev
f3 0f bd lzcnt Gv,Ev
0f be movsx Gv,Eb
0f bf movsx Gv,Ew
0f c0 xadd Eb,Gb
0f c1 xadd Ev,Gv
0f c3 movnti My,Gy
0f c7/1 cmpxchg8b M0
0f c7/6 rdrand Rv
0f c7/7 rdseed Rv
0f c8+ bswap Zv
0f ff ud0 Gv,Ev
`
