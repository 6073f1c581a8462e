# SPDX-License-Identifier: GPL-2.0
# Builds the kernel crate, and a module with it, for the kernel whose build directory runs this file. The module's
# Kbuild has the variables `rust-module` and `rust-source`, and links rust/NAME_rust.o and crate/helpers.o.
#
# The crate is that of one pinned release of Linux (`rust`), so the driver has the same interfaces on each kernel.
# Everything that depends on the kernel comes from its own build: bindgen reads its headers with its flags, rustc gets
# its flags, its compiler makes the helpers, and its objtool checks the result. No kernel needs CONFIG_RUST.

BINDGEN ?= bindgen

rust := $(obj)/rust
crates := $(src)/rust
ours := $(src)/crate

rustc-version := $(shell $(RUSTC) --version | sed 's/^rustc \([0-9]*\)\.\([0-9]*\)\.\([0-9]*\).*/\1 \2 \3/' | \
	while read -r a b c; do echo $$((a * 100000 + b * 100 + c)); done)
at-least = $(shell [ "$(rustc-version)" -ge $(1) ] && echo y)
library := $(shell $(RUSTC) --print sysroot)/lib/rustlib/src/rust/library

# The configuration, and what the compiler can do, by the names and versions of the pinned release (init/Kconfig).
rustc-has := SPAN_FILE:108800 UNNECESSARY_TRANSMUTES:108800 FILE_WITH_NUL:108900 FILE_AS_C_STR:109100 \
	SUSPICIOUS_RUNTIME_SYMBOL_DEFINITIONS:109800
has = $(if $(call at-least,$(lastword $(subst :, ,$(1)))),CONFIG_RUSTC_HAS_$(firstword $(subst :, ,$(1))))
quiet_cmd_cfg = GEN     $@
      cmd_cfg = sh $(ours)/check.sh $(objtree)/include/config/auto.conf $(RUSTC) $(BINDGEN) && \
	mkdir -p $(rust)/host $(rust)/bindings $(rust)/uapi $(rust)/kernel && \
	{ grep -v CONFIG_RUST $(objtree)/include/generated/rustc_cfg; \
	  printf -- '--cfg=%s\n' CONFIG_RUST $(foreach one,$(rustc-has),$(call has,$(one))); } >$@
$(rust)/cfg: $(rust)/made-for $(ours)/rules.mk
	$(call cmd,cfg)

# All that is made here is for one kernel, with one configuration, and for the flags and versions of its compilers.
# Times of files do not show it: headers of packages are older than what was made here for another kernel.
about-kernel := $(wildcard $(addprefix $(objtree)/,include/generated/autoconf.h include/generated/rustc_cfg \
	include/generated/compile.h include/generated/utsversion.h Module.symvers))
filechk_made-for = echo '$(KERNELRELEASE) $(realpath $(objtree))'; cksum $(about-kernel); \
	echo '$(call escsq,$(filter-out -Wp$(comma)%,$(c_flags)))'; echo '$(call escsq,$(rust_flags))'; \
	$(RUSTC) -vV 2>&1 || :; $(BINDGEN) --version 2>&1 || :
$(rust)/made-for: FORCE
	$(call filechk,made-for)
clean-files += $(addprefix rust/,made-for cfg target.json probes.h host *.rmeta bindings/*_generated.rs \
	uapi/*_generated.rs)

quiet_cmd_target = GEN     $@
      cmd_target = RUSTC_BOOTSTRAP=1 $(RUSTC) -O --edition=2021 -Clinker=$(HOSTCC) --cap-lints=allow \
	-o $(rust)/host/target $< && \
	{ grep -v ^CONFIG_RUSTC_VERSION= $(objtree)/include/config/auto.conf; \
	  echo CONFIG_RUSTC_VERSION=$(rustc-version); } | $(rust)/host/target >$@
$(rust)/target.json: $(crates)/generate_rust_target.rs $(rust)/cfg
	$(call cmd,target)

# What the kernel has, as compile tests find it.
quiet_cmd_probes = GEN     $@
      cmd_probes = sh $(ours)/probe.sh $< $(CC) $(filter-out -Wp$(comma)-MMD%,$(c_flags)) >$@
$(rust)/probes.h: $(ours)/probes $(ours)/probe.sh $(rust)/cfg
	$(call cmd,probes)

# Crates that run in the compiler. `flags-NAME` has the flags of a crate.
feature = $(foreach one,$(1),--cfg 'feature="$(one)"')
syntax := --extern proc_macro2 --extern quote
proc-macro := --edition=2021 --crate-type proc-macro --extern proc_macro $(syntax) --extern syn @$(rust)/cfg
flags-proc_macro2 := --edition=2021 --crate-type rlib --extern proc_macro --cfg wrap_proc_macro \
	$(call feature,proc-macro) \
	$(if $(call at-least,108800),--cfg proc_macro_span_file --cfg proc_macro_span_location)
flags-quote := --edition=2018 --crate-type rlib --extern proc_macro --extern proc_macro2 $(call feature,proc-macro)
flags-syn := --edition=2021 --crate-type rlib --extern proc_macro $(syntax) \
	$(call feature,clone-impls derive full parsing printing proc-macro visit visit-mut)
flags-macros := $(proc-macro)
flags-pin_init_internal := $(proc-macro) --cfg kernel --cfg USE_RUSTC_FEATURES
flags-zerocopy_derive := $(proc-macro) --cfg zerocopy_unstable_linux

crate = $(patsubst lib%,%,$(basename $(notdir $@)))
quiet_cmd_host = RUSTC   $@
      cmd_host = RUSTC_BOOTSTRAP=1 $(RUSTC) $(flags-$(crate)) --cap-lints=allow -Clinker-flavor=gcc \
	-Clinker=$(HOSTCC) --out-dir $(host) --emit=link=$@ -L$(host) --crate-name $(crate) $<
host := $(rust)/host
$(host)/libproc_macro2.rlib: $(crates)/proc-macro2/lib.rs $(rust)/cfg
$(host)/libquote.rlib: $(crates)/quote/lib.rs $(host)/libproc_macro2.rlib
$(host)/libsyn.rlib: $(crates)/syn/lib.rs $(host)/libquote.rlib
$(host)/libmacros.so: $(crates)/macros/lib.rs $(host)/libsyn.rlib
$(host)/libpin_init_internal.so: $(crates)/pin-init/internal/src/lib.rs $(host)/libsyn.rlib
$(host)/libzerocopy_derive.so: $(crates)/zerocopy-derive/lib.rs $(host)/libsyn.rlib
$(host)/lib%:
	$(call cmd,host)

# Bindings of the kernel's headers. Its C flags are for gcc, as a rule; these decide on types and values.
c-flags = $(filter -I% -D% -U% -include %.h -nostdinc -isystem -std=% -fms-extensions -fshort-wchar \
	-funsigned-char -m64,$(c_flags)) -I$(rust) -w --target=x86_64-linux-gnu -fno-builtin -D__BINDGEN__ -DMODULE
quiet_cmd_bindgen = BINDGEN $@
      cmd_bindgen = $(BINDGEN) $< $(bindgen-flags) --rust-target 1.85 --use-core --with-derive-default \
	--ctypes-prefix ffi --no-layout-tests --no-debug '.*' --enable-function-attribute-detection -o $@ -- $(c-flags)
helpers := -I$(crates)/helpers
parameters = $(shell grep -v -e '^\#' -e '^$$' $(crates)/bindgen_parameters)
# Types of the helpers, which a module need not use.
helper-types := dma_resv|ww_acquire_ctx
# The names that the sources use, and the enumerations of constants: bindings of all that these headers declare take as
# long to compile as all the rest.
names = $(shell grep -rhoE 'bindings::[A-Za-z_][A-Za-z0-9_]*' $(crates)/kernel $(crates)/macros $(src) --include=*.rs | \
	sed -E 's/.*:://; s/^([a-z][a-z_]*)_[A-Z][A-Z0-9_]*$$/\1/' | sort -u)
$(rust)/bindings/bindings_generated.rs: private bindgen-flags = $(parameters) \
	--allowlist-item '$(subst $(space),|,$(names))|$(helper-types)|E[A-Z0-9_]+|(RUST_CONST_HELPER|KERN|TAINT|SZ|PCI|pci_read_config|pci_write_config)_.*'
$(rust)/bindings/bindings_generated.rs: $(ours)/bindings.h $(ours)/compat.h $(rust)/probes.h
	$(call cmd,bindgen)
	$(Q)sed -i 's/pub const RUST_CONST_HELPER_/pub const /g' $@
$(rust)/uapi/uapi_generated.rs: private bindgen-flags = $(parameters)
$(rust)/uapi/uapi_generated.rs: $(ours)/uapi.h $(rust)/cfg
	$(call cmd,bindgen)
$(rust)/bindings/bindings_helpers_generated.rs: private bindgen-flags = --blocklist-type '.*' --allowlist-var '' \
	--allowlist-function 'rust_helper_.*'
$(rust)/bindings/bindings_helpers_generated.rs: private c_flags += $(helpers)
$(rust)/bindings/bindings_helpers_generated.rs: $(ours)/helpers.c $(ours)/compat.h $(rust)/probes.h
	$(call cmd,bindgen)
	$(Q)sed -Ei 's/pub fn rust_helper_([a-zA-Z0-9_]*)/#[link_name="rust_helper_\1"] pub fn \1/g' $@

# Crates of the kernel, with its flags for this compiler. Its lints are for its own build.
# A kernel without Rust has the flags of an old compiler.
# The kernel's build knows none of these objects, so it leaves its checks of memory (KASAN) out.
jump-tables := -Zno-jump-tables -Cjump-tables=n
kernel-flags = $(filter-out -W% -D% -A% --edition=% --target=% @% $(jump-tables),$(rust_flags)) \
	$(if $(filter $(jump-tables),$(rust_flags)),$(if $(call at-least,109300),-Cjump-tables=n,-Zno-jump-tables)) \
	$(RUSTFLAGS_KASAN) --target=$(rust)/target.json @$(rust)/cfg --sysroot=/dev/null -Zunstable-options
quiet_cmd_crate = RUSTC   $@
      cmd_crate = RUSTC_BOOTSTRAP=1 OBJTREE=$(abspath $(obj)) CARGO_PKG_VERSION=0 $(RUSTC) $(kernel-flags) \
	$(or $(edition-$(crate)),--edition=2021) --cap-lints=allow $(flags-$(crate)) --crate-type rlib --crate-name $(crate) \
	--out-dir $(rust) --emit=obj=$@ --emit=metadata=$(rust)/lib$(crate).rmeta -L$(rust) -L$(host) $<
of-kernel := --extern ffi --extern pin_init
edition-core := --edition=$(if $(call at-least,108700),2024,2021)
flags-core := --cfg no_fp_fmt_parse
flags-zerocopy := --cfg no_fp_fmt_parse
flags-pin_init := --extern pin_init_internal --extern macros --cfg kernel --cfg USE_RUSTC_FEATURES
flags-bindings := $(of-kernel)
flags-uapi := $(of-kernel)
flags-kernel := $(of-kernel) --extern build_error --extern macros --extern bindings --extern uapi --extern zerocopy \
	--extern zerocopy_derive
# Arithmetic that the kernel does not use, and that core needs a symbol for.
intrinsics = $(shell $(NM) -p --undefined-only $(1) | sed -n 's/^ *U \(__[a-z0-9]*[sdt][fi][a-z0-9]*\)$$/\1/p')

crate-objects := $(addprefix $(rust)/,core.o compiler_builtins.o ffi.o zerocopy.o pin_init.o build_error.o bindings.o \
	uapi.o kernel.o)
$(rust)/core.o: $(library)/core/src/lib.rs $(rust)/target.json
$(rust)/compiler_builtins.o: $(crates)/compiler_builtins.rs $(rust)/core.o
$(rust)/ffi.o: $(crates)/ffi.rs $(rust)/compiler_builtins.o
$(rust)/zerocopy.o: $(crates)/zerocopy/src/lib.rs $(rust)/compiler_builtins.o
$(rust)/build_error.o: $(crates)/build_error.rs $(rust)/compiler_builtins.o
$(rust)/pin_init.o: $(crates)/pin-init/src/lib.rs $(rust)/compiler_builtins.o $(host)/libpin_init_internal.so \
	$(host)/libmacros.so
$(rust)/bindings.o: $(crates)/bindings/lib.rs $(rust)/ffi.o $(rust)/pin_init.o \
	$(rust)/bindings/bindings_generated.rs $(rust)/bindings/bindings_helpers_generated.rs
$(rust)/uapi.o: $(crates)/uapi/lib.rs $(rust)/ffi.o $(rust)/pin_init.o $(rust)/uapi/uapi_generated.rs
$(rust)/kernel.o: $(crates)/kernel/lib.rs $(rust)/bindings.o $(rust)/uapi.o $(rust)/build_error.o $(rust)/zerocopy.o \
	$(host)/libzerocopy_derive.so
$(crate-objects):
	$(call cmd,crate)

# The module.
features := arbitrary_self_types,asm_goto,generic_arg_infer,used_with_arg
lints = $(filter-out -Dwarnings,$(filter -W% -D% -A%,$(rust_flags)))
quiet_cmd_module = $(RUSTC_OR_CLIPPY_QUIET)   $@
      cmd_module = RUSTC_BOOTSTRAP=1 OBJTREE=$(abspath $(obj)) RUST_MODFILE=$(rust-module) $(RUSTC_OR_CLIPPY) \
	$(kernel-flags) --edition=2021 $(lints) --cap-lints=warn --cfg MODULE -Zallow-features=$(features) -Zcrate-attr=no_std \
	-Zcrate-attr='feature($(features))' $(of-kernel) --extern kernel --extern zerocopy --extern zerocopy_derive \
	$(shell sed 's/^.define \(.*\)/--cfg=\1/' $(rust)/probes.h) \
	--crate-type rlib --crate-name $(rust-module)_main --out-dir $(rust) --emit=obj=$@ -L$(rust) -L$(host) $<
main := $(rust)/$(rust-module)_main.o
$(main): $(src)/$(rust-source) $(wildcard $(src)/*/*.rs $(src)/*/*/*.rs) $(rust)/kernel.o
	$(call cmd,module)

# `build_error` stays out: a call of it is an assertion that the compiler could not prove.
quiet_cmd_link_rust = LD      $@
      cmd_link_rust = $(OBJCOPY) $(foreach one,$(call intrinsics,$(rust)/core.o),--redefine-sym $(one)=__rust$(one)) \
	$(rust)/core.o $(rust)/core_redirected.o && \
	$(OBJCOPY) -w -W '__rust__*' $(rust)/compiler_builtins.o && \
	$(LD) $(ld_flags) -r -o $@ $(main) $(rust)/core_redirected.o \
	$(filter-out %/core.o %/build_error.o,$(crate-objects)) $(cmd_objtool)
# For kernels without IBT and LTO, whose objects are checked one by one.
$(rust)/$(rust-module)_rust.o: private objtool-args-y += --link
$(rust)/$(rust-module)_rust.o: $(main) $(crate-objects) FORCE
	$(call if_changed,link_rust)

CFLAGS_crate/helpers.o := -I$(src)/rust/helpers -I$(rust) -Wno-missing-prototypes -Wno-missing-declarations
$(obj)/crate/helpers.o: $(rust)/probes.h
