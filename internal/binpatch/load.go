package binpatch

// The initialiser of the shared object, which the dynamic linker calls before any other code of
// the program. The one of the GNU C library passes the number of arguments, the arguments and
// the environment; musl's passes nothing, and has the environment in a variable, which the GNU
// C library does not have yet.
//
// The auxiliary vector behind the environment has the program's headers. If they are, byte
// for byte, those of the program that the patch was made for, its segments are where they
// should be; if then its code has the right hash, it is that program. Any other one is left
// alone, without a word: LD_PRELOAD is inherited by whatever the program starts.
//
// The code of the sections has to be near the program's, for jumps of 4 bytes. Places below
// the program are tried, 64 KiB apart, then places above it. What is written is never
// executable at the same time.
//
// If the patch has tables for unwinding, they are registered with the library that unwinds,
// which is loaded if the program has exceptions. The dynamic linker fills in where the functions
// are that are needed for that, or 0.
const loadCode = `
init:
	53                               push rbx
	55                               push rbp
	41 54                            push r12
	41 55                            push r13
	41 56                            push r14
	41 57                            push r15
	48 89 d0                         mov rax, rdx
	48 83 3d {gnu_get_libc_version} 00 cmp qword ptr [gnu_get_libc_version], 0x0
	75 <environment>                 jne environment
	48 8b 05 {environ}               mov rax, qword ptr [environ]
	48 85 c0                         test rax, rax
	0f 84 {done}                     je done
	48 8b 00                         mov rax, qword ptr [rax]
	48 85 c0                         test rax, rax
	0f 84 {done}                     je done
environment:
	48 83 c0 08                      add rax, 0x8
	48 83 78 f8 00                   cmp qword ptr [rax-0x8], 0x0
	75 <environment>                 jne environment
	31 db                            xor ebx, ebx
	31 ed                            xor ebp, ebp
auxiliary:
	48 8b 08                         mov rcx, qword ptr [rax]
	48 85 c9                         test rcx, rcx
	74 <known>                       je known
	48 83 f9 03                      cmp rcx, 0x3
	48 0f 44 58 08                   cmove rbx, qword ptr [rax+0x8]
	48 83 f9 05                      cmp rcx, 0x5
	48 0f 44 68 08                   cmove rbp, qword ptr [rax+0x8]
	48 83 c0 10                      add rax, 0x10
	eb <auxiliary>                   jmp auxiliary
known:
	48 85 db                         test rbx, rbx
	0f 84 {done}                     je done
	3b 2d {headerCount}              cmp ebp, dword ptr [headerCount]
	0f 85 {done}                     jne done
	48 89 de                         mov rsi, rbx
	48 8d 3d {headers}               lea rdi, [headers]
	6b cd 38                         imul ecx, ebp, 0x38
	f3 a6                            repe cmpsb
	0f 85 {done}                     jne done
	49 89 dc                         mov r12, rbx
	4c 2b 25 {headersAt}             sub r12, qword ptr [headersAt]
	4c 89 e6                         mov rsi, r12
	48 03 35 {textAt}                add rsi, qword ptr [textAt]
	48 8b 0d {textSize}              mov rcx, qword ptr [textSize]
	48 8b 05 {hashSeed}              mov rax, qword ptr [hashSeed]
	48 8b 15 {hashPrime}             mov rdx, qword ptr [hashPrime]
words:
	48 83 f9 08                      cmp rcx, 0x8
	72 <bytes>                       jb bytes
	48 33 06                         xor rax, qword ptr [rsi]
	48 0f af c2                      imul rax, rdx
	48 89 c7                         mov rdi, rax
	48 c1 ef 20                      shr rdi, 0x20
	48 31 f8                         xor rax, rdi
	48 83 c6 08                      add rsi, 0x8
	48 83 e9 08                      sub rcx, 0x8
	eb <words>                       jmp words
bytes:
	48 85 c9                         test rcx, rcx
	74 <hashed>                      je hashed
	0f b6 3e                         movzx edi, byte ptr [rsi]
	48 31 f8                         xor rax, rdi
	48 0f af c2                      imul rax, rdx
	48 ff c6                         inc rsi
	48 ff c9                         dec rcx
	eb <bytes>                       jmp bytes
hashed:
	48 3b 05 {textHash}              cmp rax, qword ptr [textHash]
	0f 85 {done}                     jne done
	4d 89 e5                         mov r13, r12
	4c 03 2d {imageStart}            add r13, qword ptr [imageStart]
	4c 2b 2d {blobSize}              sub r13, qword ptr [blobSize]
	41 be 00 20 00 00                mov r14d, 0x2000
below:
	49 81 ed 00 00 01 00             sub r13, 0x10000
	49 81 fd 00 00 01 00             cmp r13, 0x10000
	7c <above>                       jl above
	e8 {map}                         call map
	74 <mapped>                      je mapped
	41 ff ce                         dec r14d
	75 <below>                       jne below
above:
	4d 89 e5                         mov r13, r12
	4c 03 2d {imageEnd}              add r13, qword ptr [imageEnd]
	49 81 c5 00 00 00 10             add r13, 0x10000000
	41 be 00 40 00 00                mov r14d, 0x4000
upwards:
	e8 {map}                         call map
	74 <mapped>                      je mapped
	49 81 c5 00 00 01 00             add r13, 0x10000
	41 ff ce                         dec r14d
	75 <upwards>                     jne upwards
	e9 {failed}                      jmp failed
map:
	b8 09 00 00 00                   mov eax, 0x9
	4c 89 ef                         mov rdi, r13
	48 8b 35 {blobSize}              mov rsi, qword ptr [blobSize]
	ba 03 00 00 00                   mov edx, 0x3
	41 ba 22 00 10 00                mov r10d, 0x100022
	41 b8 ff ff ff ff                mov r8d, -0x1
	45 31 c9                         xor r9d, r9d
	0f 05                            syscall
	4c 39 e8                         cmp rax, r13
	74 <mapReturn>                   je mapReturn
	48 3d 01 f0 ff ff                cmp rax, -0xfff
	73 <mapReturn>                   jae mapReturn
	48 89 c7                         mov rdi, rax
	48 8b 35 {blobSize}              mov rsi, qword ptr [blobSize]
	b8 0b 00 00 00                   mov eax, 0xb
	0f 05                            syscall
	4c 39 e8                         cmp rax, r13
mapReturn:
	c3                               ret
mapped:
	4c 89 ef                         mov rdi, r13
	48 8d 35 {code}                  lea rsi, [code]
	48 8b 0d {codeSize}              mov rcx, qword ptr [codeSize]
	f3 a4                            rep movsb
	4c 89 ef                         mov rdi, r13
	48 03 3d {dataAt}                add rdi, qword ptr [dataAt]
	48 8d 35 {data}                  lea rsi, [data]
	48 8b 0d {dataSize}              mov rcx, qword ptr [dataSize]
	f3 a4                            rep movsb
	48 8d 35 {relocations}           lea rsi, [relocations]
	8b 0d {relocationCount}          mov ecx, dword ptr [relocationCount]
	4c 89 e0                         mov rax, r12
	4c 29 e8                         sub rax, r13
relocate:
	85 c9                            test ecx, ecx
	74 <relocated>                   je relocated
	8b 16                            mov edx, dword ptr [rsi]
	41 01 44 15 00                   add dword ptr [r13+rdx], eax
	48 83 c6 04                      add rsi, 0x4
	ff c9                            dec ecx
	eb <relocate>                    jmp relocate
relocated:
	4c 89 ea                         mov rdx, r13
	48 03 15 {trapsAt}               add rdx, qword ptr [trapsAt]
	8b 0d {trapCount}                mov ecx, dword ptr [trapCount]
traps:
	85 c9                            test ecx, ecx
	74 <protect>                     je protect
	4c 01 22                         add qword ptr [rdx], r12
	4c 01 6a 08                      add qword ptr [rdx+0x8], r13
	48 83 c2 10                      add rdx, 0x10
	ff c9                            dec ecx
	eb <traps>                       jmp traps
protect:
	b8 0a 00 00 00                   mov eax, 0xa
	4c 89 ef                         mov rdi, r13
	48 8b 35 {dataAt}                mov rsi, qword ptr [dataAt]
	ba 05 00 00 00                   mov edx, 0x5
	0f 05                            syscall
	85 c0                            test eax, eax
	0f 85 {failed}                   jne failed
	83 3d {framesAt} 00              cmp dword ptr [framesAt], 0x0
	74 <handle>                      je handle
	48 8b 05 {__register_frame}      mov rax, qword ptr [__register_frame]
	48 85 c0                         test rax, rax
	74 <handle>                      je handle
	48 8b 15 {_Unwind_Resume}        mov rdx, qword ptr [_Unwind_Resume]
	4c 89 e9                         mov rcx, r13
	48 03 0d {resumeAt}              add rcx, qword ptr [resumeAt]
	48 89 11                         mov qword ptr [rcx], rdx
	48 8b 15 {__gxx_personality_v0}  mov rdx, qword ptr [__gxx_personality_v0]
	48 89 51 08                      mov qword ptr [rcx+0x8], rdx
	4c 89 ef                         mov rdi, r13
	48 03 3d {framesAt}              add rdi, qword ptr [framesAt]
	48 83 ec 08                      sub rsp, 0x8
	ff d0                            call rax
	48 83 c4 08                      add rsp, 0x8
handle:
	83 3d {trapCount} 00             cmp dword ptr [trapCount], 0x0
	74 <patch>                       je patch
	4c 89 ee                         mov rsi, r13
	48 03 35 {actionAt}              add rsi, qword ptr [actionAt]
	4c 01 2e                         add qword ptr [rsi], r13
	4c 01 6e 10                      add qword ptr [rsi+0x10], r13
	48 8d 56 20                      lea rdx, [rsi+0x20]
	b8 0d 00 00 00                   mov eax, 0xd
	bf 05 00 00 00                   mov edi, 0x5
	41 ba 08 00 00 00                mov r10d, 0x8
	0f 05                            syscall
	85 c0                            test eax, eax
	0f 85 {failed}                   jne failed
patch:
	4c 8d 35 {patches}               lea r14, [patches]
	44 8b 3d {patchCount}            mov r15d, dword ptr [patchCount]
next:
	45 85 ff                         test r15d, r15d
	0f 84 {done}                     je done
	49 8b 1e                         mov rbx, qword ptr [r14]
	4c 01 e3                         add rbx, r12
	ba 03 00 00 00                   mov edx, 0x3
	e8 {protection}                  call protection
	85 c0                            test eax, eax
	75 <failed>                      jne failed
	41 83 7e 0c 01                   cmp dword ptr [r14+0xc], 0x1
	74 <trap>                        je trap
	41 8b 46 08                      mov eax, dword ptr [r14+0x8]
	4c 01 e8                         add rax, r13
	48 29 d8                         sub rax, rbx
	83 e8 05                         sub eax, 0x5
	c6 03 e9                         mov byte ptr [rbx], 0xe9
	89 43 01                         mov dword ptr [rbx+0x1], eax
	eb <written>                     jmp written
trap:
	c6 03 cc                         mov byte ptr [rbx], 0xcc
written:
	ba 05 00 00 00                   mov edx, 0x5
	e8 {protection}                  call protection
	49 83 c6 10                      add r14, 0x10
	41 ff cf                         dec r15d
	eb <next>                        jmp next
protection:
	48 89 df                         mov rdi, rbx
	48 81 e7 00 f0 ff ff             and rdi, -0x1000
	48 8d b3 04 10 00 00             lea rsi, [rbx+0x1004]
	48 81 e6 00 f0 ff ff             and rsi, -0x1000
	48 29 fe                         sub rsi, rdi
	b8 0a 00 00 00                   mov eax, 0xa
	0f 05                            syscall
	c3                               ret
failed:
	b8 01 00 00 00                   mov eax, 0x1
	bf 02 00 00 00                   mov edi, 0x2
	48 8d 35 {refusal}               lea rsi, [refusal]
	48 8b 15 {refusalSize}           mov rdx, qword ptr [refusalSize]
	0f 05                            syscall
done:
	41 5f                            pop r15
	41 5e                            pop r14
	41 5d                            pop r13
	41 5c                            pop r12
	5d                               pop rbp
	5b                               pop rbx
	c3                               ret
`
