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
  # A report needs lines and frames; full optimisation only costs compile time here. So do checks of every pointer for
  # null, which AddressSanitizer reports as well, and of objects' sizes and types: a seventh of the time, together.
  target_compile_options(infimum_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined;-fno-sanitize=null,object-size,vptr;-fno-sanitize-recover=undefined;-fno-omit-frame-pointer;-O1;-g1>")
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
endfunction()

# Code of tests runs for milliseconds and is compiled for minutes: linked last, since the last optimisation counts.
add_library(infimum_test_flags INTERFACE)
if(INFIMUM_SANITIZE)
  target_compile_options(infimum_test_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-O0>")
else()
  target_compile_options(infimum_test_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-O1>")
endif()

# infimum_test(layer SOURCES layer_config_test.cc ... DEPENDS infimum::layer EXTERNAL ...)
#   makes the program layer_tests; each TEST in it is a CTest test. OPTIMIZED: its own code computes for long.
function(infimum_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZED" "" "SOURCES;DEPENDS;EXTERNAL")
  add_executable(${name}_tests ${arg_SOURCES})
  set(flags infimum_test_flags)
  if(arg_OPTIMIZED)
    set(flags)
  endif()
  target_link_libraries(${name}_tests PRIVATE infimum_flags ${arg_DEPENDS} ${arg_EXTERNAL} GTest::gmock GTest::gtest_main
    ${flags})
  target_include_directories(${name}_tests PRIVATE "${INFIMUM_SOURCE_DIR}")
  target_compile_definitions(${name}_tests PRIVATE INFIMUM_SOURCE_DIR="${INFIMUM_SOURCE_DIR}" INFIMUM_BINARY_DIR="${CMAKE_BINARY_DIR}")
  include(GoogleTest)
  gtest_discover_tests(${name}_tests DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
endfunction()
