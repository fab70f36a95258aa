# The entry points. Each target that builds or runs something does its own set-up first, so that any
# of them can be the first command on a fresh Debian 12 machine (as root, or with sudo).

SAN ?=
STORE ?= local
JOBS ?= $(shell nproc)
TEST_JOBS ?= $(JOBS)

ifeq ($(filter $(SAN),address thread),)
ifneq ($(SAN),)
$(error SAN is '$(SAN)'; use SAN=address (with undefined behaviour), SAN=thread, or leave it out)
endif
endif

BUILD := build$(if $(SAN),-$(SAN))
# Debian's own Python: its modules (xxhash, rados) belong to it, whatever else is first on the path.
PYTHON := /usr/bin/python3
CTEST = ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(TEST_JOBS)
FORMATTED = $(shell git ls-files '*.h' '*.cc' 2>/dev/null || find include src tests sim bench fuzz examples -name '*.h' -o -name '*.cc')

ifeq ($(SAN),address)
export ASAN_OPTIONS ?= detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:abort_on_error=0
export UBSAN_OPTIONS ?= print_stacktrace=1:halt_on_error=1
endif
ifeq ($(SAN),thread)
export TSAN_OPTIONS ?= halt_on_error=1:second_deadlock_stack=1
# ThreadSanitizer of GCC 12 cannot live with the address randomisation of newer kernels.
CTEST := $(shell setarch -R true 2>/dev/null && echo setarch -R) $(CTEST)
endif

.DEFAULT_GOAL := help
.PHONY: help setup build test test-long demo bench bench-check format format-check check tidy clean

help:
	@echo "Lakestream. Each target does its own set-up (Debian 12, root or sudo)."
	@echo
	@echo "  make demo          the main job: real video, photographs and text through a stream (STORE=s3: on a real S3 server)"
	@echo "  make test          build and run the tests (SAN=address or SAN=thread: with that sanitizer)"
	@echo "  make test-long     build and run the tests that take minutes"
	@echo "  make build         build everything; leaves the command line tool at $(BUILD)/bin/lakestream"
	@echo "  make bench         measure; writes bench/results/*.json"
	@echo "  make bench-check   say which recorded measures miss their goal"
	@echo "  make check         layers, bans, sizes, links, format: the tree checks alone (seconds)"
	@echo "  make format        format the C++ sources"
	@echo "  make tidy          clang-tidy (minutes)"
	@echo "  make setup         install the Debian packages of tools/packages.txt"
	@echo "  make clean         remove the build folders"

setup:
	@tools/setup.sh

build: setup
	@cmake -S . -B $(BUILD) -G Ninja -DLS_SANITIZE=$(SAN) -DCMAKE_EXPORT_COMPILE_COMMANDS=ON --log-level=WARNING
	@cmake --build $(BUILD) -j $(JOBS)

test: build
	$(CTEST) -LE long

test-long: build
	$(CTEST) -L long

demo: build
	@examples/multimodal/fetch_data.sh build/demo-data
	@$(BUILD)/bin/demo_prepare build/demo-data
	@$(PYTHON) examples/multimodal/run_demo.py --bin $(BUILD)/bin --data build/demo-data --out build/demo --store $(STORE)

bench: build
	@BUILD=$(BUILD) bench/run.sh

bench-check:
	@$(PYTHON) bench/check.py

check: setup
	@$(PYTHON) tools/check_tree.py
	@$(PYTHON) tools/check_tree_test.py

format: setup
	@clang-format-14 -i $(FORMATTED)

format-check: setup
	@clang-format-14 --dry-run --Werror $(FORMATTED)

tidy: build
	@BUILD=$(BUILD) JOBS=$(JOBS) tools/run_clang_tidy.sh

clean:
	@rm -rf build build-address build-thread
