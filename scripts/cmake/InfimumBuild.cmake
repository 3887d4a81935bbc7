# How every target here is built: one INTERFACE target for flags, one function for a folder's library,
# one for a folder's tests. Included by the top level and by microbench/, which configures alone.
include_guard(GLOBAL)
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Most of a source's compile time is its headers: a dozen sources of a library share one compilation.
option(INFIMUM_UNITY "Compile libraries in batches of sources; OFF recompiles one source at a time" ON)
set(INFIMUM_UNITY_BATCH 12)
if(INFIMUM_UNITY OR INFIMUM_SANITIZE)
  # Where more is inlined GCC 12 takes what a std::variant does not hold for uninitialized.
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>")
endif()

# A tenth of GCC's time is collecting garbage in a heap of 1 GB: it begins at 1.5 GB where there are 3.5 GB for each core,
# and so for each job. Under sanitizers a job has 3 GB as it is.
cmake_host_system_information(RESULT INFIMUM_MEMORY QUERY TOTAL_PHYSICAL_MEMORY)  # MiB
cmake_host_system_information(RESULT INFIMUM_CORES QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR INFIMUM_MEMORY "${INFIMUM_MEMORY} / ${INFIMUM_CORES}")
if(INFIMUM_MEMORY GREATER 3500 AND NOT INFIMUM_SANITIZE)
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=1500000>")
endif()

get_filename_component(INFIMUM_SOURCE_DIR "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

add_library(infimum_flags INTERFACE)
target_include_directories(infimum_flags INTERFACE "${INFIMUM_SOURCE_DIR}/include")
# GCC 12 sees overlaps where std::string is assigned a literal (its bug 105651): -Wno-restrict. nvcc knows other flags,
# and its own stubs are not free of warnings.
target_compile_options(infimum_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wnon-virtual-dtor>"
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>")
if(INFIMUM_WARNINGS_AS_ERRORS)
  target_compile_options(infimum_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
endif()
if(INFIMUM_SANITIZE)
  # A report needs lines and frames; -Og compiles in 0.6 of -O1's time. Checks of every pointer for null and for overflow,
  # whose use AddressSanitizer reports, of objects' sizes and types, and of alignment are two fifths of the time, together.
  # The fuzzers check alignment and overflow of pointers.
  target_compile_options(infimum_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined;-fno-sanitize=null,object-size,vptr,alignment,pointer-overflow;-fno-sanitize-recover=undefined;-fno-omit-frame-pointer;-Og;-g1>")
  target_link_options(infimum_flags INTERFACE -fsanitize=address,undefined)
endif()

if(INFIMUM_FUZZ)
  # Libraries only count what they run; each fuzzer links libFuzzer itself.
  target_compile_options(infimum_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link,address,undefined;-fno-sanitize=null,object-size,vptr;-fno-sanitize-recover=undefined;-fno-omit-frame-pointer;-O1;-g1>")
  target_link_options(infimum_flags INTERFACE -fsanitize=address,undefined)
endif()

# infimum_library(layer SOURCES layer_config.cc ... DEPENDS infimum::base EXTERNAL fmt::fmt)
#   makes infimum::layer from sources in the calling folder. DEPENDS are modules of ours (PUBLIC),
#   EXTERNAL third parties: PRIVATE and SYSTEM. INCLUDE_PRIVATE adds the folder itself for private headers.
function(infimum_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;EXTERNAL")
  add_library(infimum_${name} STATIC ${arg_SOURCES})
  add_library(infimum::${name} ALIAS infimum_${name})
  target_link_libraries(infimum_${name} PUBLIC infimum_flags ${arg_DEPENDS} PRIVATE ${arg_EXTERNAL})
  target_include_directories(infimum_${name} PRIVATE "${INFIMUM_SOURCE_DIR}")
  set_property(GLOBAL APPEND PROPERTY INFIMUM_MODULES ${name})
  infimum_in_batches(infimum_${name})
endfunction()

# Replaces the sources of a target by batches that include them. Sources with compile options or definitions of their own
# or SKIP_UNITY_BUILD_INCLUSION, which must be set before, and generated ones stay alone. (CMake's UNITY_BUILD writes absolute paths, so that ccache knows
# nothing of another clone.)
function(infimum_in_batches target)
  if(NOT INFIMUM_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(batch 0)
  set(count 0)
  set(text "")
  set(alone)
  foreach(source IN LISTS sources)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    get_source_file_property(skipped ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(NOT source MATCHES "[.]cc$" OR IS_ABSOLUTE "${source}" OR options OR definitions OR skipped)
      list(APPEND alone "${source}")
      continue()
    endif()
    file(REAL_PATH "${source}" path BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    file(RELATIVE_PATH path "${INFIMUM_SOURCE_DIR}" "${path}")
    string(APPEND text "#include \"${path}\"\n")
    math(EXPR count "${count} + 1")
    if(count EQUAL INFIMUM_UNITY_BATCH)
      infimum_write_batch(${target} ${batch} "${text}" path)
      list(APPEND alone "${path}")
      math(EXPR batch "${batch} + 1")
      set(count 0)
      set(text "")
    endif()
  endforeach()
  if(text)
    infimum_write_batch(${target} ${batch} "${text}" path)
    list(APPEND alone "${path}")
  endif()
  set_property(TARGET ${target} PROPERTY SOURCES ${alone})
endfunction()

function(infimum_write_batch target number text path)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}_${number}.cc")
  file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
  set(${path} "${file}" PARENT_SCOPE)
endfunction()

# Code of tests runs for milliseconds and is compiled for minutes: linked last, since the last optimisation counts.
add_library(infimum_test_flags INTERFACE)
if(INFIMUM_SANITIZE)
  target_compile_options(infimum_test_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-O0>")
else()
  target_compile_options(infimum_test_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-O1>")
endif()

# scripts/test runs every test once: under the sanitizers, and what those forbid, and what measures speed, without them.
set(INFIMUM_TESTS_ELSEWHERE FALSE)
if(INFIMUM_BUILD_TESTS STREQUAL unsanitized)
  set(INFIMUM_TESTS_ELSEWHERE TRUE)  # in another build tree
endif()

# infimum_test_program(layer_tests SOURCES ... DEPENDS ... EXTERNAL ... [OPTIMIZED] [UNSANITIZED])
#   makes a program of GoogleTest's. OPTIMIZED: its own code computes for long. UNSANITIZED: too slow under a sanitizer.
function(infimum_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZED;UNSANITIZED" "" "SOURCES;DEPENDS;EXTERNAL")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE infimum_flags infimum_test_folders ${arg_DEPENDS} ${arg_EXTERNAL}
                                        GTest::gmock GTest::gtest_main)
  if(arg_UNSANITIZED)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ${INFIMUM_SANITIZE})
  else()
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ${INFIMUM_TESTS_ELSEWHERE})
  endif()
  if(NOT arg_OPTIMIZED)
    target_link_libraries(${name} PRIVATE infimum_test_flags)
  endif()
  infimum_in_batches(${name})
endfunction()

# infimum_shards(layer layer_tests 2 [FILTER pattern] [LABELS label])
#   runs a program of GoogleTest's as layer.1 and layer.2: a process for each test would cost more than most tests.
function(infimum_shards name program count)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "FILTER;LABELS" "")
  foreach(shard RANGE 1 ${count})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}.${shard} COMMAND ${program})
    set(environment GTEST_BRIEF=1 GTEST_TOTAL_SHARDS=${count} GTEST_SHARD_INDEX=${index})
    if(arg_FILTER)
      list(APPEND environment "GTEST_FILTER=${arg_FILTER}")
    endif()
    set_tests_properties(${name}.${shard} PROPERTIES ENVIRONMENT "${environment}" TIMEOUT 1200 LABELS "${arg_LABELS}")
  endforeach()
endfunction()

# infimum_test(layer SOURCES layer_config_test.cc ... DEPENDS infimum::layer EXTERNAL ... [SHARDS n] [OPTIMIZED])
#   makes the program layer_tests and runs it in n parts.
function(infimum_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZED" "SHARDS" "SOURCES;DEPENDS;EXTERNAL")
  set(optimized)
  if(arg_OPTIMIZED)
    set(optimized OPTIMIZED)
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  infimum_test_program(${name}_tests ${optimized} SOURCES ${arg_SOURCES} DEPENDS ${arg_DEPENDS} EXTERNAL ${arg_EXTERNAL})
  infimum_shards(${name} ${name}_tests ${arg_SHARDS})
endfunction()

# infimum_helper(write_sample_report SOURCES ... DEPENDS ... EXTERNAL ...)
#   makes a program that tests without sanitizers run.
function(infimum_helper name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;EXTERNAL")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE infimum_flags infimum_test_folders ${arg_DEPENDS} ${arg_EXTERNAL})
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ${INFIMUM_SANITIZE})
endfunction()

# infimum_benchmark(SOURCES bounds_benchmark.cc DEPENDS ... EXTERNAL ... [DEFINITIONS ...] [PROGRAMS ...])
#   adds to the program of all benchmarks (tests/support/benchmark.h). PROGRAMS are targets that it runs.
function(infimum_benchmark)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "SOURCES;DEPENDS;EXTERNAL;DEFINITIONS;PROGRAMS")
  list(TRANSFORM arg_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  foreach(kind IN ITEMS SOURCES DEPENDS EXTERNAL DEFINITIONS PROGRAMS)
    set_property(GLOBAL APPEND PROPERTY INFIMUM_BENCHMARK_${kind} ${arg_${kind}})
  endforeach()
endfunction()

# Once, behind all of them.
function(infimum_benchmark_program)
  foreach(kind IN ITEMS SOURCES DEPENDS EXTERNAL DEFINITIONS PROGRAMS)
    get_property(${kind} GLOBAL PROPERTY INFIMUM_BENCHMARK_${kind})
    list(REMOVE_DUPLICATES ${kind})
  endforeach()
  set(paths)
  foreach(source IN LISTS SOURCES)
    file(REAL_PATH "${source}" path)  # one source may be named from two folders
    list(APPEND paths "${path}")
  endforeach()
  list(REMOVE_DUPLICATES paths)
  infimum_helper(benchmarks SOURCES ${paths} DEPENDS ${DEPENDS} EXTERNAL ${EXTERNAL})
  target_compile_definitions(benchmarks PRIVATE ${DEFINITIONS})
  add_dependencies(benchmarks ${PROGRAMS})
endfunction()
