# Finds ONNX C++ as its own installation lays it out. ONNX's package file asks for protobuf's CMake package,
# which Debian does not ship; CMake's own FindProtobuf finds the same library and makes the same target.
#
#   find_package(ONNX REQUIRED)  ->  ONNX::onnx;  ONNX_SHARE_DIR: where scripts/setup put the light models
find_package(Protobuf QUIET)
find_file(ONNX_TARGETS_FILE ONNXTargets.cmake PATH_SUFFIXES lib/cmake/ONNX lib64/cmake/ONNX)
mark_as_advanced(ONNX_TARGETS_FILE)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ONNX REQUIRED_VARS ONNX_TARGETS_FILE Protobuf_FOUND
  REASON_FAILURE_MESSAGE "scripts/setup builds it, CMAKE_PREFIX_PATH says where")
if(ONNX_FOUND)
  if(NOT TARGET ONNX::onnx)
    include("${ONNX_TARGETS_FILE}")
  endif()
  get_filename_component(ONNX_SHARE_DIR "${ONNX_TARGETS_FILE}/../../../../share/infimum" ABSOLUTE)
endif()
