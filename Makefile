# A thin front for CMake; `make help` lists the targets. The presets are in CMakePresets.json.

JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
KERNELS ?= ptx
BUILD   = build/release
export JOBS

.DEFAULT_GOAL = build
.PHONY: help build kernels demo check check-all install uninstall bench docs format tidy clean

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 20

build: ## build the library and the command, into build/release
	@scripts/build.sh release -DTALLY_TESTS=OFF -DCMAKE_INSTALL_PREFIX=$(PREFIX)

kernels: build ## compile CUDA kernels ahead (needs NVRTC); KERNELS=all for machine code, a package's choice
	@cmake -S . -B $(BUILD) -DTALLY_KERNELS="$(KERNELS)" > /dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target kernels

demo: ## install what is missing, build, count and draw the bundled photograph and table
	@scripts/setup.sh build
	@$(MAKE) --no-print-directory build
	@scripts/demo.sh

check: ## install what is missing, build and run every test
	@scripts/setup.sh check
	@scripts/check.sh

check-all: ## and the slow rest: clang, static, packages in clean root folders, same bytes
	@scripts/setup.sh all
	@scripts/check.sh all

install: build ## install under PREFIX (default /usr/local); DESTDIR is obeyed
	@cmake --install $(BUILD)
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

uninstall: ## remove what `make install` installed
	@xargs -r -I{} rm -fv "$(DESTDIR){}" < $(BUILD)/install_manifest.txt

bench: ## build and time this machine (installs nothing; scripts/peers.sh gets the peers)
	@$(MAKE) --no-print-directory build
	@$(BUILD)/tally-bench

docs: ## the site, from README, docs/, headers and docstrings: build/site/html
	@scripts/site.py

format: ## lay out every C file by .clang-format
	@git ls-files -co --exclude-standard -- '*.c' '*.h' '*.hpp' '*.cpp' '*.cl' | grep -v '_table\.c$$' | xargs clang-format -i

tidy: ## clang-tidy over the library, the command and tally-bench
	@scripts/check.sh tidy analyzer

clean: ## remove build/ and demo/
	@rm -rf build demo
